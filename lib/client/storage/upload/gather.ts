/** Time in which calls are gathered, ms: what becomes ready together goes together. */
const GATHER_MS = 2;

/** Calls back once for many calls that come shortly one after the other. */
export function gather(callback: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      callback();
    }, GATHER_MS);
  };
}

/** Takes the first entries of a queue: as many as fit, at least one. @returns none of an empty queue */
export function takeBatch<Entry extends { readonly bytes: number }>(
  queue: Entry[],
  { files, bytes }: { readonly files: number; readonly bytes: number },
): Entry[] {
  let count = 0;
  for (let sum = 0; count < Math.min(queue.length, files); count++) {
    sum += queue[count].bytes;
    if (count > 0 && sum > bytes) break;
  }
  return queue.splice(0, count);
}
