import type { Page } from "playwright-core";

import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { logIn } from "./site_fixture.ts";

/** Whose storage the tests use. */
export const ACCOUNT = "archive/curator";

/** The application of a file's tests, with the storage alone. */
export const sharedStorage: () => Promise<Application> = sharedByFile(
  () => startApplication({ env: STORAGE_ONLY }),
  (application) => application.stop(),
);

/** Logs in to the storage, and goes to a path of the site. */
export async function logInToStorage(page: Page, { site }: Application, path = "/storage"): Promise<void> {
  await page.goto(`${site}login?next=${encodeURIComponent(path)}`);
  await logIn(page, ACCOUNT);
  await page.waitForURL(new URL(path, site).href);
}
