/**
 * Gives up a request's body that will not be read: while it waits to be read the client hangs, and its connection is
 * never free. A body that someone reads is theirs.
 */
export function cancelBody({ body }: Request): void {
  if (body && !body.locked) body.cancel().catch(() => {});
}
