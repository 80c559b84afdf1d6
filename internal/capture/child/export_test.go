package child

// What the tests, which are a package of their own because this one's waits
// are left out of profiles, need from inside.
var (
	Prepare = prepare
	Share   = share
)
