import { measureDeletes } from "@/bench/tasks/deletes.ts";

/** Background tasks: objects counted, deleted and downloaded as one archive. */
export const taskMeasures = [measureDeletes];
