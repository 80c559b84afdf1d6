// Command server is what the tests measure: a net/http server with
// net/http/pprof and every fault that the tests need, or a batch program.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof" // what is fetched
	"os"
	"runtime"
	"sync"
	"time"
)

func main() {
	var (
		addr   = flag.String("addr", "127.0.0.1:0", "listen here")
		work   = flag.Int("work", 200, "hash rounds of a request")
		locked = flag.Bool("lock", false, "hash under one lock")
		fault  = flag.String("fault", "", "what is wrong: none, mute, late, die, deaf, page, html, 404, cut, junk, slow")
		batch  = flag.Duration("batch", 0, "no server: work this long, divided by GOMAXPROCS")
		rates  = flag.Bool("rates", true, "record contention")
	)
	flag.Parse()
	if *rates {
		runtime.SetMutexProfileFraction(1)
		runtime.SetBlockProfileRate(1)
	}
	if *batch > 0 {
		doBatch(*addr, *batch)
		return
	}
	var mu sync.Mutex
	http.HandleFunc("/work", func(w http.ResponseWriter, _ *http.Request) {
		if *locked {
			mu.Lock()
			defer mu.Unlock()
		}
		fmt.Fprintf(w, "%x\n", spin(*work))
	})
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if *fault == "late" {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	var handler http.Handler = http.DefaultServeMux
	if *fault != "" {
		handler = faulty(*fault)
	}
	switch *fault {
	case "mute":
		select {}
	case "die":
		fmt.Fprintln(os.Stderr, "panic: the database is gone")
		os.Exit(3)
	}
	log.Fatal((&http.Server{Addr: *addr, Handler: handler, ReadHeaderTimeout: time.Minute}).ListenAndServe())
}

// faulty answers for the profiles wrongly, and for all else well.
func faulty(fault string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.DefaultServeMux)
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/debug/pprof/" {
			fmt.Fprintln(w, "ok")
			return
		}
		switch fault {
		case "html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintln(w, "<!DOCTYPE html><title>Sign in</title>")
		case "404":
			http.NotFound(w, r)
		case "junk":
			w.Header().Set("Content-Type", "application/octet-stream")
			fmt.Fprintln(w, "this is no profile")
		case "cut":
			w.Header().Set("Content-Length", "100000")
			w.Write([]byte{0x1f, 0x8b, 8, 0})
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			panic(http.ErrAbortHandler)
		default:
			http.DefaultServeMux.ServeHTTP(w, r)
		}
	})
	return mux
}

func spin(rounds int) [32]byte {
	var sum [32]byte
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

// doBatch does a fixed amount of work in as many goroutines as GOMAXPROCS.
func doBatch(addr string, work time.Duration) {
	if addr != "127.0.0.1:0" {
		go func() { log.Print(http.ListenAndServe(addr, nil)) }()
	}
	fmt.Println("setting up")
	time.Sleep(100 * time.Millisecond)
	fmt.Println("begin of the work")
	n := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for end := time.Now().Add(work / time.Duration(n)); time.Now().Before(end); {
				spin(1000)
			}
		})
	}
	wg.Wait()
	fmt.Println("end of the work: 12.5k items/s")
	time.Sleep(50 * time.Millisecond)
}
