/** How many requests this thread has begun to handle: a body that is read fast must leave room for others. */
let begun = 0;

/** Counts one more. Servers call it for each request. */
export function countRequest(): void {
  begun++;
}

/** How many have begun so far. */
export function requestsBegun(): number {
  return begun;
}
