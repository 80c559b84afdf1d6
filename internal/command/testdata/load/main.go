// Command load makes a fixed number of requests, from several connections.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	url := flag.String("url", "", "ask this")
	total := flag.Int64("n", 200, "so often")
	workers := flag.Int("c", 8, "from so many connections")
	flag.Parse()
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = *workers
	var left atomic.Int64
	left.Store(*total)
	var wg sync.WaitGroup
	begin := time.Now()
	for range *workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				resp, err := http.Get(*url)
				if err != nil {
					log.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	took := time.Since(begin).Seconds()
	fmt.Printf("Requests: %d\nRequests/sec:\t%.2f\n", *total, float64(*total)/took)
}
