// Package report is the one Report value that every renderer draws from, and
// the renderers. Its JSON form is the public schema scaleprof.report/1.
package report

// Schema names the JSON form. Fields may be added under it, never renamed.
const Schema = "scaleprof.report/1"

// Interval is [low, high] at 95%; nil where too few blocks ran.
type Interval *[2]float64

// Report is what `scaleprof explain` says. Times are integer nanoseconds,
// shares and efficiencies fractions of 1; a nil pointer is "not known", never 0.
type Report struct {
	Schema      string       `json:"schema"`
	Capture     string       `json:"-"` // the directory as the user named it; not in the JSON, so that a moved capture explains to the same bytes
	Host        Host         `json:"host"`
	Toolchain   Toolchain    `json:"toolchain"`
	Targets     []Target     `json:"targets,omitempty"`
	Series      []Series     `json:"series"`
	Comparisons []Comparison `json:"comparisons"`
	Breakdowns  []Breakdown  `json:"breakdowns,omitempty"`
	Files       []File       `json:"files"`
	Warnings    []Warning    `json:"warnings"`
}

// Host is the machine in short.
type Host struct {
	CPUs          int      `json:"cpus"`
	PhysicalCores *int     `json:"physical_cores"`
	SMT           *int     `json:"smt"`
	QuotaCPUs     *float64 `json:"quota_cpus"`
	NUMANodes     *int     `json:"numa_nodes"`
	OS            string   `json:"os"`
	Arch          string   `json:"arch"`
	CPU           string   `json:"cpu"`
	Virtual       *bool    `json:"virtual"`
}

// Toolchain says what was run.
type Toolchain struct {
	Go        string            `json:"go"`
	Scaleprof string            `json:"scaleprof"`
	Libraries map[string]string `json:"libraries"`
}

// Target is what was asked to run: enough to see whether two reports are of the
// same work.
type Target struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`
	Ops    int64             `json:"ops"`
	Unit   string            `json:"unit,omitempty"` // of one operation
	Params map[string]string `json:"params,omitempty"`
}

// Series is one target in one mode under one arm, over T.
type Series struct {
	Target  string   `json:"target"`
	Mode    string   `json:"mode"`
	Arm     string   `json:"arm"`
	Points  []Point  `json:"points"`
	Knee    *Knee    `json:"knee"`
	Models  []Model  `json:"models"`
	Best    *int     `json:"best_threads,omitempty"`   // T of the shortest wall time
	Useless *int     `json:"useless_beyond,omitempty"` // beyond this T an added core gives under 0.1 of itself
	Notes   []string `json:"notes,omitempty"`
}

// Point is one cell's figures.
type Point struct {
	Threads        int       `json:"threads"`
	Procs          int       `json:"procs"`
	Runs           int       `json:"runs"`
	Ops            int64     `json:"ops"`
	WallNS         int64     `json:"wall_ns"` // median of the timed runs
	WallCINS       *[2]int64 `json:"wall_ci_ns"`
	OpsPerS        float64   `json:"ops_per_s"`
	CPUNS          *int64    `json:"cpu_ns"`
	WallsNS        []int64   `json:"walls_ns,omitempty"` // of the timed runs, in order
	CPUsNS         []int64   `json:"cpus_ns,omitempty"`  // of the same runs
	Speedup        *float64  `json:"speedup"`            // against the lowest T of the series
	SpeedupCI      Interval  `json:"speedup_ci"`
	Efficiency     *float64  `json:"efficiency"`
	EfficiencyCI   Interval  `json:"efficiency_ci"`
	Marginal       *float64  `json:"marginal"` // gain of each core added since the point before, in cores
	CeilingSpeedup *float64  `json:"ceiling_speedup"`
	CeilingCI      Interval  `json:"ceiling_ci,omitempty"`
	MemoryCeiling  *float64  `json:"memory_ceiling_speedup,omitempty"`
	Perturbation   *float64  `json:"perturbation"`       // profiled wall over timed wall
	Modes          []int64   `json:"modes_ns,omitempty"` // two or more where the repeats cluster
	Gates          []Gate    `json:"gates"`
}

// Gate is a broken validity gate of a point.
type Gate struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Runs []int  `json:"runs,omitempty"`
}

// Knee is where the curve bends.
type Knee struct {
	Threads int     `json:"threads"`
	CI      *[2]int `json:"ci"`
	Place   string  `json:"place,omitempty"` // "physical cores", …, "" when on none
}

// Model is a fitted law, told honestly.
type Model struct {
	Name       string              `json:"name"` // amdahl, usl, broken-line
	Parameters map[string]float64  `json:"parameters"`
	CI         map[string]Interval `json:"ci"`
	Identified bool                `json:"identified"`
	Chosen     bool                `json:"chosen"`
	Why        string              `json:"why"`
}

// Comparison accounts for what was lost between two T.
type Comparison struct {
	Target       string       `json:"target"`
	Mode         string       `json:"mode"`
	Arm          string       `json:"arm"`
	Base         int          `json:"base"`
	Peak         int          `json:"peak"`
	Unit         string       `json:"unit"` // "slot time", or "P-seconds" where lanes are Ps
	SlotBaseNS   int64        `json:"slot_base_ns"`
	SlotPeakNS   int64        `json:"slot_peak_ns"`
	ExcessNS     int64        `json:"excess_ns"`
	CoresLost    float64      `json:"cores_lost"`
	CoresLostCI  Interval     `json:"cores_lost_ci"`
	Efficiency   float64      `json:"efficiency"`
	EfficiencyCI Interval     `json:"efficiency_ci"`
	Rows         []Row        `json:"rows"`
	Groups       []Group      `json:"groups,omitempty"` // the rows' sums, with intervals of their own
	ClosureError *float64     `json:"closure_error"`
	Factors      []Factor     `json:"factors,omitempty"` // the multiplicative one-line form
	CPUPerOp     []CPURow     `json:"cpu_per_op,omitempty"`
	Narrative    []string     `json:"narrative,omitempty"` // GC, allocator and scheduler between base and peak
	Verdict      Verdict      `json:"verdict"`
	Quote        string       `json:"quote,omitempty"` // the comparison in sentences that stand by themselves
	Potential    *Potential   `json:"potential"`
	Experiments  []Experiment `json:"experiments"`
	Dose         *Dose        `json:"dose,omitempty"`
	Combined     *Combined    `json:"combined,omitempty"`
	ModeContrast *Contrast    `json:"mode_contrast,omitempty"` // the same target in the other mode
	Notes        []string     `json:"notes,omitempty"`
	// Loss is the loss profile, where it is at hand: for flame graphs, not in the JSON.
	Loss []LossPath `json:"-"`
}

// Row is one cause's part of the excess. Rows of a comparison add up.
type Row struct {
	Cause           string   `json:"cause"`
	Group           string   `json:"group"`
	BaseNS          int64    `json:"base_ns"`
	PeakNS          int64    `json:"peak_ns"`
	ExcessNS        int64    `json:"excess_ns"`
	CoresLost       float64  `json:"cores_lost"`
	CoresLostCI     Interval `json:"cores_lost_ci"`
	Share           float64  `json:"share"` // of the whole excess; 0 where nothing is lost
	Distinguishable bool     `json:"distinguishable"`
	Stacks          []Stack  `json:"stacks"`
	Culprits        []Stack  `json:"culprits,omitempty"` // who caused the waiting
	Detail          string   `json:"detail,omitempty"`   // source line, lock, sizes: what to act on
}

// Group is what the rows of one group lost together. Its interval is that of the
// sum: rows of a group vary together, so their intervals cannot be added.
type Group struct {
	Group       string   `json:"group"`
	BaseNS      int64    `json:"base_ns"`
	PeakNS      int64    `json:"peak_ns"`
	ExcessNS    int64    `json:"excess_ns"`
	CoresLost   float64  `json:"cores_lost"`
	CoresLostCI Interval `json:"cores_lost_ci"`
}

// Stack is a call path that grew.
type Stack struct {
	Frames    []string `json:"frames"`           // leaf first
	Source    string   `json:"source,omitempty"` // file:line of the leaf
	ExcessNS  int64    `json:"excess_ns"`
	CoresLost float64  `json:"cores_lost"`
}

// Factor is one factor of efficiency; their product is the efficiency.
type Factor struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// CPURow is CPU time per operation by cause at base and peak: what CPU profiles alone show.
type CPURow struct {
	Cause  string  `json:"cause"`
	BaseNS float64 `json:"base_ns_per_op"`
	PeakNS float64 `json:"peak_ns_per_op"`
	Stacks []Stack `json:"stacks,omitempty"`
}

// Verdict names the cause to act on, or says that there is none or that the evidence does not decide.
type Verdict struct {
	Cause      *string  `json:"cause"`
	Group      *string  `json:"group"`
	Confidence string   `json:"confidence"` // proven, likely, unclear
	Text       string   `json:"text"`
	Advice     string   `json:"advice"`
	Evidence   []string `json:"evidence"`
}

// Potential is the efficiency at peak if the verdict's cause cost no more than at base.
type Potential struct {
	WithoutCauseEfficiency float64  `json:"without_cause_efficiency"`
	CI                     Interval `json:"ci"`
	From                   string   `json:"from"` // "attribution" or the arm's name
}

// Experiment sets an arm's effect beside what attribution says.
type Experiment struct {
	Arm             string   `json:"arm"`
	Tests           []string `json:"tests"`
	EffectCores     float64  `json:"effect_cores"`
	EffectCI        Interval `json:"effect_ci"`
	AttributedCores *float64 `json:"attributed_cores"`
	Verdict         string   `json:"verdict"`              // agree, shifted, unexplained
	Why             string   `json:"why,omitempty"`        // what decided the verdict
	Efficiency      *float64 `json:"efficiency,omitempty"` // of the arm
	Confounds       string   `json:"confounds,omitempty"`
	// Potential is the baseline's efficiency at peak with the arm's effect given back.
	Potential *Potential `json:"potential,omitempty"`
	Shapley   *float64   `json:"shapley_cores,omitempty"`
}

// Dose is the fit S = S_inf + c/GOGC at base and peak.
type Dose struct {
	GOGC       []int    `json:"gogc"`
	BaseSlotNS []int64  `json:"base_slot_ns"`
	PeakSlotNS []int64  `json:"peak_slot_ns"`
	BaseInfNS  float64  `json:"base_inf_ns"`
	PeakInfNS  float64  `json:"peak_inf_ns"`
	GCCores    float64  `json:"gc_cores"` // cores lost that vanish as GOGC grows without bound
	GCCoresCI  Interval `json:"gc_cores_ci"`
	Efficiency float64  `json:"efficiency_inf"`
	Why        string   `json:"why,omitempty"` // where the fit cannot be trusted
	// AttributedCores is what the profiles give to the collector; Verdict compares
	// GCCores with it as an experiment's does.
	AttributedCores *float64   `json:"attributed_cores"`
	Verdict         string     `json:"verdict,omitempty"`
	VerdictWhy      string     `json:"verdict_why,omitempty"`
	Potential       *Potential `json:"potential,omitempty"`
}

// Combined shares out what several arms together recover, each one's share being
// averaged over all orders of applying them (Shapley, METHOD 5.5). Cores lost.
type Combined struct {
	Shares []ArmShare `json:"shares"`
	All    float64    `json:"all"` // with every arm applied; the shares add up to it
	AllCI  Interval   `json:"all_ci"`
	// Interaction is All less what the arms recover one at a time: negative where
	// they remove the same loss, positive where only both together do.
	Interaction   float64  `json:"interaction"`
	InteractionCI Interval `json:"interaction_ci"`
	Blocks        int      `json:"blocks"`
}

// ArmShare is one arm's part of Combined.
type ArmShare struct {
	Arm   string   `json:"arm"`
	Cores float64  `json:"cores"`
	CI    Interval `json:"ci"`
}

// Contrast compares the two modes at the same T.
type Contrast struct {
	Mode        string   `json:"mode"`
	Efficiency  float64  `json:"efficiency"`
	CI          Interval `json:"ci"`
	SharedCores float64  `json:"shared_cores"` // cores lost that processes do not lose
	SharedCI    Interval `json:"shared_ci,omitempty"`
	Text        string   `json:"text"`
}

// File is an output and the command that opens it.
type File struct {
	Path     string `json:"path"`
	Kind     string `json:"kind"`
	OpenWith string `json:"open_with"`
}

// Warning is a fault or limit the reader should know.
type Warning struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Run  *int   `json:"run,omitempty"`
}
