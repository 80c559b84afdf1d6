package host

import "strings"

// readVirtual tells whether a hypervisor runs below this kernel, and which. The CPU's flag decides where
// it exists (x86); elsewhere the firmware's names and the kernel's own knowledge.
func readVirtual(t tree, info cpuinfo) (virtual bool, name string) {
	name = hypervisorName(t)
	switch {
	case info.flags["hypervisor"]:
		return true, name
	case t.text("sys/hypervisor/type") != "" && !strings.Contains(t.text("proc/xen/capabilities"), "control_d"):
		return true, name
	case t.exists("proc/device-tree/hypervisor") || t.exists("sys/firmware/devicetree/base/hypervisor"):
		return true, name
	case info.x86:
		// A CPU that could say so and does not. The names in the firmware then are those of a
		// vendor that also sells bare metal.
		return false, ""
	}
	return name != "", name
}

// hypervisorName goes by what each vendor writes into the firmware tables, as systemd's
// and util-linux's detection do. A ".metal" product is a whole machine.
func hypervisorName(t tree) string {
	if typ := t.text("sys/hypervisor/type"); typ != "" {
		return typ
	}
	product := t.text("sys/class/dmi/id/product_name")
	vendor := t.text("sys/class/dmi/id/sys_vendor")
	board := t.text("sys/class/dmi/id/board_vendor")
	bios := t.text("sys/class/dmi/id/bios_vendor")
	if strings.Contains(product, ".metal") {
		return ""
	}
	all := strings.Join([]string{product, vendor, board, bios}, "\n")
	for _, v := range [...]struct{ mark, name string }{
		{"KVM", "kvm"},
		{"QEMU", "qemu"},
		{"Bochs", "bochs"},
		{"VMware", "vmware"},
		{"VMW", "vmware"},
		{"VirtualBox", "virtualbox"},
		{"innotek GmbH", "virtualbox"},
		{"Parallels", "parallels"},
		{"BHYVE", "bhyve"},
		{"Amazon EC2", "amazon ec2"},
		{"Google Compute Engine", "google compute engine"},
		{"Hyper-V", "hyper-v"},
		{"OpenStack", "openstack"},
		{"Alibaba Cloud ECS", "alibaba"},
		{"Apple Virtualization", "apple"},
		{"Xen", "xen"},
		{"HVM domU", "xen"},
		{"Droplet", "digitalocean"},
		{"Nutanix", "nutanix"},
		{"Firecracker", "firecracker"},
		{"Cloud Hypervisor", "cloud-hypervisor"},
	} {
		if strings.Contains(all, v.mark) {
			return v.name
		}
	}
	if vendor == "Microsoft Corporation" && product == "Virtual Machine" {
		return "hyper-v"
	}
	switch clock := t.text("sys/devices/system/clocksource/clocksource0/current_clocksource"); {
	case clock == "kvm-clock":
		return "kvm"
	case strings.HasPrefix(clock, "hyperv"):
		return "hyper-v"
	case clock == "xen":
		return "xen"
	}
	for _, dir := range []string{"proc/device-tree", "sys/firmware/devicetree/base"} {
		if c := t.text(dir + "/hypervisor/compatible"); c != "" {
			first, _, _ := strings.Cut(c, "\x00")
			return strings.TrimPrefix(first, "linux,")
		}
		if t.text(dir+"/compatible") == "linux,dummy-virt" { // QEMU's and others' arm64 "virt" machine
			return "qemu"
		}
	}
	return ""
}
