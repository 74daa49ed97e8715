import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";

import { folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import type { Application } from "@/tests/application.ts";
import { type GatewayClient, logIn as logInToGateway } from "@/tests/end_to_end/gateway_client.ts";
import { sharedStorage } from "@/tests/end_to_end/shared/applications.ts";
import { onFreshPage } from "@/tests/browser/shared_browser.ts";
import { awake, startSession } from "@/tests/browser/site_fixture.ts";

/** Whose storage the tests use. */
export const ACCOUNT = "archive/curator";

/** Logs in to the storage, and goes to a path of the site. */
export async function logInToStorage(page: Page, { site }: Application, path = "/storage"): Promise<void> {
  await startSession(page, `${site}login`, ACCOUNT);
  await page.goto(new URL(path, site).href);
}

/** A page that is logged in, and a bucket of its own, whose versions are stored. */
export interface StorageVisit {
  readonly application: Application;
  readonly gateway: GatewayClient;
  readonly page: Page;
  readonly bucket: string;
  /** The address of a folder of the bucket. */
  folderAt(prefix: string): string;
  /** Opens an address and waits until the page is awake. */
  open(address: string): Promise<void>;
}

interface VisitOptions extends BrowserContextOptions {
  /** Errors on the console that belong to the test. */
  readonly expected?: readonly RegExp[];
}

let buckets = 0;

/** Runs a test on a fresh page of the storage. */
export function withStorage(
  test: (visit: StorageVisit, t: Deno.TestContext) => Promise<void>,
  { expected, ...options }: VisitOptions = {},
): (t: Deno.TestContext) => Promise<void> {
  return async (t) => {
    const application = await sharedStorage();
    const gateway = await logInToGateway(application.site, ACCOUNT);
    const bucket = `visited-${++buckets}`;
    await gateway.json("PUT", "/mapi/tenants/archive/namespaces", { name: bucket, hardQuota: "1 GB" });
    await gateway.json("PUT", `/buckets/${bucket}/versioning`, { status: "Enabled" });
    await onFreshPage(options, async (page) => {
      await startSession(page, `${application.site}login`, ACCOUNT);
      const visit = {
        application,
        gateway,
        page,
        bucket,
        folderAt: (prefix: string) => new URL(folderPath({ account: ACCOUNT, bucket, prefix }), application.site).href,
        async open(address: string) {
          await page.goto(new URL(address, application.site).href);
          if (options.javaScriptEnabled !== false) await awake(page);
        },
      };
      await test(visit, t);
    }, expected);
  };
}

/** Declares tests of a subject, each of which runs on a fresh page of the storage. */
export function storageScenarios(subject: string) {
  return (name: string, test: (visit: StorageVisit) => Promise<void>, options?: VisitOptions) =>
    Deno.test(`${subject}: ${name}`, withStorage(test, options));
}

/** Stores objects in the bucket of a visit. */
export async function put(
  { gateway, bucket }: StorageVisit,
  keys: readonly string[],
  bodyOf = (key: string) => `bytes of ${key}`,
): Promise<void> {
  // Further writes of one client would be refused on a busy machine, as an overload.
  await forEachConcurrent(keys, 16, async (key) => {
    const path = key.split("/").map(encodeURIComponent).join("/");
    const response = await gateway.call("PUT", `/buckets/${bucket}/objects/${path}`, bodyOf(key));
    await response.body?.cancel();
    assert.equal(response.status, 200);
  });
}
