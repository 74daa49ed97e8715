/** How often is looked whether the parent is still the same, ms. */
const LOOK_EVERY_MS = 1000;

/**
 * Resolves when the process that started this one is gone, and the system has given it another parent. Never on Windows,
 * where a process keeps its parent's number.
 */
export function parentGone(): Promise<void> {
  const parent = Deno.ppid;
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (Deno.ppid === parent) return;
      clearInterval(look);
      resolve();
    }, LOOK_EVERY_MS);
    Deno.unrefTimer(look);
  });
}
