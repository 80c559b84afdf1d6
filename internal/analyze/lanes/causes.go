package lanes

import "github.com/scaleprof/scaleprof/internal/analyze/cause"

// causeID is a cause as a small number, for keys that are made per event.
type causeID uint8

const (
	cUnexplained causeID = iota
	cWork
	cAssist
	cAssistWait
	cMark
	cSTW
	cSweep
	cScavenge
	cFinalizer
	cPageFault
	cWakeLatency
	cSpawn
	cFind
	cPreempt
	cMutex
	cRWMutex
	cChannel
	cSelect
	cCond
	cWaitGroup
	cLockRuntime
	cTail
	cSerial
	cQueue
	cSyscall
	cCgo
	cNetwork
	cSleep
	cRunQueue
	cThrottled
	cSteal
	cNeighbour
	cStartUp
	cProfiling
	cHarness
	cFixed // causes from here on are numbered as they turn up
)

var fixedCauses = [cFixed]cause.ID{
	cUnexplained: cause.Unexplained, cWork: cause.WorkUser, cAssist: cause.GCAssist, cAssistWait: cause.GCAssistWait, cMark: cause.GCMark,
	cSTW: cause.GCSTW, cSweep: cause.GCSweep, cScavenge: cause.GCScavenge, cFinalizer: cause.GCFinalizer, cPageFault: cause.AllocPageFault,
	cWakeLatency: cause.SchedWakeLatency, cSpawn: cause.SchedSpawn, cFind: cause.SchedFind, cPreempt: cause.SchedPreempt, cMutex: cause.LockMutex,
	cRWMutex: cause.LockRWMutex, cChannel: cause.LockChannel, cSelect: cause.LockSelect, cCond: cause.LockCond, cWaitGroup: cause.LockWaitGroup,
	cLockRuntime: cause.LockRuntime, cTail: cause.BalanceTail, cSerial: cause.BalanceSerial, cQueue: cause.BalanceQueue, cSyscall: cause.IOSyscall,
	cCgo: cause.IOCgo, cNetwork: cause.IONetwork, cSleep: cause.IOSleep, cRunQueue: cause.OSRunQueue, cThrottled: cause.OSThrottled,
	cSteal: cause.OSSteal, cNeighbour: cause.OSNeighbour, cStartUp: cause.OSStartUp, cProfiling: cause.ObserverProfiling, cHarness: cause.ObserverHarness,
}

// causes numbers the causes of one pass.
type causes struct {
	ids    []cause.ID
	groups []string
	byID   map[cause.ID]causeID
}

func newCauses() *causes {
	c := &causes{byID: make(map[cause.ID]causeID)}
	for _, id := range fixedCauses {
		c.number(id)
	}
	return c
}

func (c *causes) number(id cause.ID) causeID {
	if n, ok := c.byID[id]; ok {
		return n
	}
	if len(c.ids) == 255 {
		return cUnexplained
	}
	n := causeID(len(c.ids))
	c.ids = append(c.ids, id)
	c.groups = append(c.groups, id.Group())
	c.byID[id] = n
	return n
}

func (c *causes) id(n causeID) cause.ID { return c.ids[n] }

func (c *causes) group(n causeID) string { return c.groups[n] }
