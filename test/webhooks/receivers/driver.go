package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"

	"receiver/webhook"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		parts := strings.Fields(lines.Text())
		now, _ := strconv.ParseInt(parts[1], 10, 64)
		text, _ := base64.StdEncoding.DecodeString(parts[3])
		body, _ := base64.StdEncoding.DecodeString(parts[4])
		header := textproto.MIMEHeader{}
		for _, pair := range strings.Split(string(text), "\n") {
			if name, value, found := strings.Cut(pair, ": "); found {
				header.Set(name, value)
			}
		}
		fmt.Println(webhook.Verify(body, header, strings.Split(parts[2], ","), parts[0], time.Unix(now, 0)))
	}
}
