import { deadline } from "./deadline.ts";

/**
 * Waits for work for about so many ms at most. Late work goes on.
 *
 * @returns whether it has ended by then, in whichever way
 */
export function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = deadline(ms, () => resolve(false));
    const end = () => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}
