/** The first line of an error's message, for messages of one line. */
export function errorReason(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0] : "unknown reason";
}
