// A client for the benchmarks on Go's net/http: the same settings on the command line, the same line of JSON.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type article struct {
	ID          int      `json:"id"`
	Title       string   `json:"title"`
	Price       float64  `json:"price"`
	IsAvailable bool     `json:"isAvailable"`
	Tags        []string `json:"tags"`
}

var settings = map[string]string{}

func number(key string, standard int64) int64 {
	if value, err := strconv.ParseInt(settings[key], 10, 64); err == nil {
		return value
	}
	return standard
}

type tally struct {
	sync.Mutex
	fetches, errors int64
	err             string
	latencies       map[uint64]uint32
	left            int64
	deadline        time.Time
}

func (t *tally) takesAnother(now time.Time) bool {
	return (t.deadline.IsZero() || now.Before(t.deadline)) && atomic.AddInt64(&t.left, -1) >= 0
}

func (t *tally) ended(took time.Duration, value int64, err error) {
	t.Lock()
	defer t.Unlock()
	expected := number("expect", -1)
	if err == nil && expected >= 0 && value != expected {
		err = fmt.Errorf("a fetch returned %d and not %d", value, expected)
	}
	if err != nil {
		t.errors++
		if t.err == "" {
			t.err = err.Error()
		}
		return
	}
	t.fetches++
	shift := bits.Len64(uint64(took)) - 8
	if shift < 0 {
		shift = 0
	}
	t.latencies[uint64(took)>>shift<<shift]++
}

var client *http.Client

func fetch(target string) (int64, error) {
	var body io.Reader
	if path := settings["body_file"]; path != "" {
		file, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		body = file
	} else if content != nil {
		body = bytes.NewReader(content)
	}
	isDistinct := settings["distinct"] == "1"
	if isDistinct {
		target += "?n=" + strconv.FormatInt(count.Add(1), 10)
	}
	request, err := http.NewRequest(settings["method"], target, body)
	if err != nil {
		return 0, err
	}
	if isDistinct {
		request.Header.Set("Accept", "application/json")
		request.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	}
	if file, ok := body.(*os.File); ok {
		status, _ := file.Stat()
		request.ContentLength = status.Size()
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return 0, fmt.Errorf("status %d", response.StatusCode)
	}
	if settings["stream"] == "1" {
		return io.Copy(io.Discard, response.Body)
	}
	var data []byte
	if response.ContentLength >= 0 {
		data = make([]byte, response.ContentLength)
		_, err = io.ReadFull(response.Body, data)
	} else {
		data, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return 0, err
	}
	if settings["decode"] == "json" {
		var articles []article
		err = json.Unmarshal(data, &articles)
		return int64(len(articles)), err
	}
	return int64(len(data)), nil
}

var content []byte
var count atomic.Int64

func phase(fetches, milliseconds int64) *tally {
	t := &tally{latencies: map[uint64]uint32{}, left: 1 << 62}
	if fetches > 0 {
		t.left = fetches
	} else {
		t.deadline = time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
	}
	var group sync.WaitGroup
	for i := int64(0); i < number("in_flight", 1); i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for now := time.Now(); t.takesAnother(now); {
				value, err := fetch(settings["url"])
				then := time.Now()
				t.ended(then.Sub(now), value, err)
				now = then
			}
		}()
	}
	group.Wait()
	return t
}

func memory() (resident, peak int64) {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "VmRSS:" {
			resident, _ = strconv.ParseInt(words[1], 10, 64)
		}
		if len(words) > 1 && words[0] == "VmHWM:" {
			peak, _ = strconv.ParseInt(words[1], 10, 64)
		}
	}
	return resident * 1024, peak * 1024
}

func usage() (cpu float64, voluntary, involuntary int64) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime), u.Nvcsw, u.Nivcsw
}

// How many responses the server holds open, or 0 if it does not answer.
func heldCount() int64 {
	if number("held_count", 0) == 0 {
		return 0
	}
	response, err := http.Get(settings["held_count_url"])
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	count, _ := strconv.ParseInt(string(text), 10, 64)
	return count
}

func main() {
	for _, argument := range os.Args[1:] {
		if key, value, ok := strings.Cut(argument, "="); ok {
			settings[key] = value
		}
	}
	if n := number("body_bytes", 0); n > 0 {
		content = bytes.Repeat([]byte("x"), int(n))
	}
	connections := int(number("in_flight", 1) + number("held_count", 0))
	transport := &http.Transport{
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true, ForceAttemptHTTP2: true,
	}
	if path := settings["ca"]; path != "" {
		pool := x509.NewCertPool()
		pem, _ := os.ReadFile(path)
		pool.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	phase(number("warm_up_fetches", 0), number("warm_up_ms", 100))
	before, _ := memory()
	for i := int64(0); i < number("held_count", 0); i++ {
		go fetch(settings["held_url"])
	}
	for heldCount() < number("held_count", 0) {
		time.Sleep(50 * time.Millisecond)
	}
	if number("held_count", 0) > 0 {
		time.Sleep(1500 * time.Millisecond) // the server has answered; what it sent is still to be taken
	}
	held, _ := memory()
	cpu, voluntary, involuntary := usage()
	from := time.Now()
	t := phase(number("fetches", 0), number("run_ms", 500))
	seconds := time.Since(from).Seconds()
	cpu2, voluntary2, involuntary2 := usage()
	after, peak := memory()
	if left := heldCount(); left < number("held_count", 0) {
		t.errors, t.err = t.errors+1, fmt.Sprintf("the server holds %d responses at the end", left)
	}
	line, _ := json.Marshal(map[string]any{
		"fetches": t.fetches, "errors": t.errors, "error": t.err, "seconds": seconds, "cpu_seconds": cpu2 - cpu,
		"voluntary_switches": voluntary2 - voluntary, "involuntary_switches": involuntary2 - involuntary,
		"rss_before": before, "rss_held": held, "rss_after": after, "rss_peak": peak, "latencies": t.latencies,
	})
	fmt.Println(string(line))
}
