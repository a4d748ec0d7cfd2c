/** Ends a command: its message is for the user, and the exit code is 1. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
