/** A failure that the message explains to the person at the terminal; printed without a stack. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
