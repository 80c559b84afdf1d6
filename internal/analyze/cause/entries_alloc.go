package cause

var allocEntries = []Entry{
	{
		ID:       AllocMalloc,
		Title:    "allocator, fast path",
		Meaning:  "Time in mallocgc where the P's own cache had a free object: it grows with T only if cores slow each other down in it (shared counters, cold caches, sampling).",
		Measured: "CPU samples below mallocgc, newobject, makeslice that no deeper layer owns, with the allocation profile that is always on.",
		Excludes: "Refilling the cache is alloc/refill, large objects and the page heap alloc/heap, clearing alloc/zero, everything the collector does inside an allocation gc/*.",
		Confirm: []string{
			"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=alloc/malloc {loss}",
			"go tool pprof -top -sample_index=alloc_objects {allocs}",
		},
		Helps: []string{
			"fewer and larger allocations: preallocate, reuse, batch",
			"keep values on the stack: see go build -gcflags=-m",
		},
		Arms: []string{"gogc=400", "mode=process"},
		Advice: []string{
			"Allocating itself takes the time, at {path}.",
			"The program allocates {rate}, most at {sites}.",
		},
	},
	{
		ID:       AllocRefill,
		Title:    "cache refill from the central lists",
		Meaning:  "A P's cache of one size class was empty and took a span from the central list, which all Ps share; waits for its lock are included.",
		Measured: "CPU samples below (*mcache).refill and (*mcentral).cacheSpan that neither sweep nor the page heap owns.",
		Excludes: "Sweeping in a refill is gc/sweep; a span that has to come from the page heap is alloc/heap.",
		Confirm: []string{
			"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=alloc/refill {loss}",
			"go tool pprof -top -focus=mcentral {mutex}",
		},
		Helps: []string{
			"fewer allocations of the size class concerned; reuse through a per-worker free list",
			"larger objects use up a span sooner: split or pool them",
		},
		Arms:   []string{"gogc=400", "mode=process"},
		Advice: []string{"Ps take spans from central lists that all share, at {path}.", "Sizes: {sizes}.", "Most is allocated at {sites}."},
	},
	{
		ID:       AllocHeap,
		Title:    "page heap and large objects",
		Meaning:  "Objects above 32 kB, and spans for small ones, come from one page heap under one lock; growing it asks the system for memory.",
		Measured: "CPU samples below (*mheap).alloc, allocSpan, freeSpan, mallocgcLarge, sysMap and friends, with waits for the heap lock.",
		Excludes: "Clearing the memory is alloc/zero, the first touch alloc/page-fault, sweeping for it gc/sweep, giving memory back gc/scavenge.",
		Confirm: []string{
			"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=alloc/heap {loss}",
			"go tool pprof -top -focus=mheap {mutex}",
			"go tool pprof -top -sample_index=alloc_space {allocs}",
		},
		Helps: []string{
			"reuse large buffers (a pool, or one per worker) in place of making new ones",
			"preallocate to the final size: each append that grows a large slice is a large object",
		},
		Arms:   []string{"gogc=400", "mode=process"},
		Advice: []string{"Large objects and spans come from one heap with one lock, at {path}.", "Sizes: {sizes}.", "Reuse the buffers made at {sites}."},
	},
	{
		ID:       AllocZero,
		Title:    "clearing fresh memory",
		Meaning:  "Memory is cleared before it is handed out. For large buffers this is a stream of writes, which cores share bandwidth for.",
		Measured: "CPU samples with memclrNoHeapPointers as the leaf below mallocgc.",
		Excludes: "clear() and zeroing by the program itself are work/user. Page faults during clearing are alloc/page-fault as far as minor faults explain them.",
		Confirm: []string{
			"go tool pprof -top -cum -sample_index=excess -tagfocus=cause=alloc/zero {loss}",
			"go tool pprof -top -sample_index=alloc_space {allocs}",
		},
		Helps: []string{
			"reuse buffers",
			"allocate to the size needed: a slice that is filled at once by append or copy is often not cleared",
		},
		Arms:   []string{"gogc=400"},
		Advice: []string{"Fresh memory is cleared at {path}: reuse the buffers.", "Sizes: {sizes}.", "Most is allocated at {sites}."},
	},
	{
		ID:       AllocPageFault,
		Title:    "page faults on fresh memory",
		Meaning:  "The first touch of a page enters the kernel, which finds and clears a page under locks of the process's address space.",
		Measured: "Kernel time that no system call in the samples explains, bounded by minor faults (rusage) times the cost of one. Faults have no frame of their own: samples land on the instruction that touched the page. Scaled to the timed runs' fault count, as recording changes it.",
		Excludes: "Faults on mapped files, which are io/syscall in spirit but cannot be told apart by samples.",
		Confirm: []string{
			"go tool pprof -top -cum -tagfocus=cause=alloc/page-fault {loss}",
		},
		Helps: []string{
			"reuse memory in place of letting the heap grow and shrink",
			"a steady heap: GOMEMLIMIT with a high GOGC, or touching memory before the work starts",
			"huge pages, where the system offers them",
		},
		Arms:   []string{"gogc=400", "mode=process"},
		Advice: []string{"Fresh pages are touched for the first time at {path}.", "The program allocates {rate}.", "Reuse the memory made at {sites}."},
	},
	{
		ID:       AllocStackGrowth,
		Title:    "goroutine stacks grow",
		Meaning:  "A goroutine's stack was too small and was copied to a larger one. Short goroutines that go deep pay this every time, as the collector also shrinks stacks.",
		Measured: "CPU samples below copystack, newstack and stackalloc.",
		Excludes: "Stacks made by a go statement are sched/spawn. Preemption, which enters through the same check, is sched/preempt.",
		Confirm: []string{
			"go tool pprof -top -cum -tagfocus=cause=alloc/stack-growth {loss}",
		},
		Helps: []string{
			"keep goroutines: a pool of workers grows its stacks once",
			"smaller frames: large arrays on the stack, deep recursion",
		},
		Arms:   []string{"gogc=400"},
		Advice: []string{"Stacks grow below {path}: keep the goroutines and their stacks."},
	},
}
