/** What a history says, with its payloads in clear text: whatever was handed to a workflow or activity, or came back, is found in it. */
export function clearTextOf(history: object): string {
  return JSON.stringify(history).replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) => `"data":${JSON.stringify(Buffer.from(data, 'base64').toString())}`);
}
