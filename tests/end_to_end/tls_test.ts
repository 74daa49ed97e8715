import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import {
  OTHER_CA,
  OTHER_CERTIFICATE,
  OTHER_KEY,
  TEST_CA,
  TEST_CERTIFICATE,
  TEST_KEY,
} from "@/tests/lib/http/certificates.ts";
import { until } from "@/tests/until.ts";

Deno.test("TLS: the application serves HTTPS with secure cookies, and takes a replaced certificate", async () => {
  const folder = await Deno.makeTempDir();
  const write = async (cert: string, key: string) => {
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
  };
  await write(TEST_CERTIFICATE, TEST_KEY);
  const application = await startApplication({
    env: { TLS_CERT_FILE: `${folder}/tls.crt`, TLS_KEY_FILE: `${folder}/tls.key` },
  });
  try {
    const { site } = application;
    assert.match(site, /^https:\/\/127\.0\.0\.1:\d+\/$/);
    using client = Deno.createHttpClient({ caCerts: [TEST_CA] });
    const login = await fetch(`${site}results/_login`, {
      client,
      method: "POST",
      redirect: "manual",
      headers: { Origin: site.slice(0, -1) },
      body: new URLSearchParams({ username: "archive/reader", password: "stackroom-demo" }),
    });
    await login.text();
    assert.equal(login.status, 303);
    const cookie = login.headers.getSetCookie().find((text) => text.startsWith("__Host-results_session="));
    assert.match(cookie ?? "", /; Secure$/);
    const jobs = await fetch(`${site}api/v1/jobs`, { client, headers: { Cookie: cookie?.split(";")[0] ?? "" } });
    assert.equal(jobs.status, 200);
    await jobs.text();
    assert.equal(await (await fetch(`${site}healthz`, { client })).text(), '{"ok":true}');

    await write(OTHER_CERTIFICATE, OTHER_KEY);
    const isReplaced = () => application.output().includes("the certificate was replaced");
    await until("the certificate is replaced", () => isReplaced() || null);
    using renewed = Deno.createHttpClient({ caCerts: [OTHER_CA] });
    assert.equal(await (await fetch(`${site}healthz`, { client: renewed })).text(), '{"ok":true}');
    // It uses its earlier connection: it does not trust the new certificate.
    assert.equal(await (await fetch(`${site}healthz`, { client })).text(), '{"ok":true}');
  } finally {
    await application.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
