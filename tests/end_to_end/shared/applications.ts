import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";

/** The application with everything embedded: tests have buckets, keys or accounts to themselves, and stop nothing. */
export const sharedApplication = sharedByFile(() => startApplication(), (application) => application.stop());

/** The storage alone, in the same way. */
export const sharedStorage = sharedByFile(
  () => startApplication({ env: STORAGE_ONLY }),
  (application) => application.stop(),
);
