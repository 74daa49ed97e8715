import type { Site } from "./sites.ts";

/** Interval between reads of a task's progress, ms. */
const POLL_MS = 20;

const UNDER_WAY = ["counting", "processing", "canceling"];

/** Looks at a task until it has ended. Throws where it failed. */
export async function ended(site: Site, target: string): Promise<Record<string, unknown>> {
  for (;;) {
    const progress = await site.call("GET", target);
    if (!UNDER_WAY.includes(String(progress.status))) {
      if (progress.status === "failed") throw new Error(`${target} failed: ${JSON.stringify(progress)}`);
      return progress;
    }
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
}
