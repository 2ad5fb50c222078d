// Attaches to the sandbox at SANDBOX_URL, or starts one on a free port; gives each test a bank of its own.
package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const startPatience, healthPatience = time.Minute, 10 * time.Second

var server = os.Getenv("SANDBOX_URL")

func TestMain(m *testing.M) {
	code := 1
	stop, err := start()
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	stop()
	os.Exit(code)
}

// start waits for a sandbox that is ready; stop ends one that it started.
func start() (stop func(), err error) {
	stop = func() {}
	if server == "" {
		program := os.Getenv("BANK_SANDBOX")
		if program == "" {
			program = "bank-sandbox"
		}
		command := exec.Command(program, "serve", "--port", "0", "--log", "off")
		command.Stderr = os.Stderr
		output, _ := command.StdoutPipe()
		if err := command.Start(); err != nil {
			return stop, err
		}
		stop = func() { command.Process.Signal(syscall.SIGTERM); command.Wait() }
		giveUp := time.AfterFunc(startPatience, func() { command.Process.Kill() })
		lines := bufio.NewScanner(output)
		for server == "" && lines.Scan() {
			if address := strings.TrimPrefix(lines.Text(), "listening on "); address != lines.Text() {
				server = address
			}
		}
		giveUp.Stop()
		go io.Copy(io.Discard, output) // a full pipe would stop the server
	}
	for end := time.Now().Add(healthPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if reply, err := http.Get(server + "/_sandbox/health"); err == nil && reply.StatusCode == http.StatusOK {
			return stop, reply.Body.Close()
		}
	}
	return stop, fmt.Errorf("no sandbox answers at %q", server)
}

// begin gives a test a bank, frozen on a Monday morning, and drops it with the test. The test fails if the referee found
// an error of the client; waive lets a rule pass.
func begin(t *testing.T) *Bank {
	t.Helper()
	name := "go-" + uuid()
	bank := &Bank{t, server + "/worlds/" + name}
	bank.must("PUT", server+"/_sandbox/worlds/"+name, object{"clock": object{"at": "2027-03-01T09:00", "frozen": true}})
	t.Cleanup(func() {
		for _, mistake := range bank.mistakes() {
			t.Error("the referee found", mistake)
		}
		bank.must("DELETE", server+"/_sandbox/worlds/"+name, nil)
	})
	return bank
}
