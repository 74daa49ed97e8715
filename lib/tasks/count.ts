import { z } from "zod";
import type { S3 } from "@/lib/s3/client.ts";
import { countKeys, keyCountState, NOTHING_COUNTED } from "./key_count.ts";
import type { TaskHandler, TaskType } from "./task_handler.ts";

const countProgress = z.object({
  prefix: z.string(),
  /** "" for none. */
  delimiter: z.string(),
  count: keyCountState,
});
type CountProgress = z.output<typeof countProgress>;

export const COUNT: TaskType<CountProgress> = { kind: "count", progress: countProgress };

/** The progress of a count that begins. */
export function newCount(prefix: string, delimiter: string): CountProgress {
  return { prefix, delimiter, count: NOTHING_COUNTED };
}

/** Counts the keys under a prefix. */
export function countHandler(s3: S3): TaskHandler<CountProgress> {
  return {
    ...COUNT,
    keepsCaller: false,
    async run({ caller, bucket, progress, read, checkpoint }) {
      const { prefix, delimiter } = progress;
      const onPage = (count: CountProgress["count"]) => checkpoint({ prefix, delimiter, count });
      const count = await countKeys(progress.count, { s3, caller, bucket, prefix, delimiter, read, onPage });
      return { prefix, delimiter, count };
    },
  };
}
