import { measureCounts } from "@/bench/tasks/counts.ts";
import { measureDeletes } from "@/bench/tasks/deletes.ts";
import { measureZips } from "@/bench/tasks/zips.ts";

/** Background tasks: objects counted, deleted, and downloaded as one archive. */
export const taskMeasures = [measureCounts, measureDeletes, measureZips];
