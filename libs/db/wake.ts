/** Tells the dispatchers that deliveries are due; coalesced by the sender that the process installs at start. */
let send: () => void = () => undefined;

export function onWakeRequested(sender: () => void): void {
  send = sender;
}

export function requestWake(): void {
  send();
}
