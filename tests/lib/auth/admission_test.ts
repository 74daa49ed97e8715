import assert from "node:assert/strict";
import { GuessLimits } from "@/lib/auth/credential_memory.ts";
import { AcceptedIdentities } from "@/lib/auth/admission.ts";
import { Admission } from "@/lib/auth/admission.ts";
import { type Identify, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { RequestContext, Slots, UnprovenRequests } from "@/lib/http/request_context.ts";

const CLAIMS = { sub: "curator", pwd: "secret", tenant: "archive" };

/** An admission with one slot that has just seen the store accept the login of {@link CLAIMS}. */
function proven(identify: Identify) {
  const accepted = new AcceptedIdentities(Date.now);
  accepted.accept(accepted.digest({ username: CLAIMS.sub, password: CLAIMS.pwd, tenant: CLAIMS.tenant }));
  const role = new Slots(1);
  const admission = new Admission({
    accepted,
    guesses: new GuessLimits(Date.now),
    identify,
    sharedKeys: false,
    role,
    tenants: new Slots(1),
    unproven: new UnprovenRequests(1, 1),
    prove: () => Promise.resolve(),
    logins: null,
  });
  return { admission, role };
}

/** A request with a body, and whether that is cancelled. */
function upload() {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel: () => resolve() });
  const context = new RequestContext(new Request("http://stackroom.example/", { method: "PUT", body }));
  return { context, cancelled };
}

Deno.test("admission: where no slot is free the body of a request is cancelled", async () => {
  const { admission, role } = proven(storeIdentities("native"));
  assert.ok(role.enter());
  const { context, cancelled } = upload();
  await assert.rejects(admission.admit(context, CLAIMS, "s3"), { status: 503 });
  await cancelled;
});

Deno.test("admission: where the identity turns out to be wrong the body of a request is cancelled", async () => {
  const { admission } = proven(() => Promise.reject(new HttpError(401, "Invalid username or password")));
  const { context, cancelled } = upload();
  await assert.rejects(admission.admit(context, CLAIMS, "s3"), { status: 401 });
  await cancelled;
});

Deno.test("admission: who has not proven the login can be asked for by either protocol, once the client is gone", async () => {
  for (const protocol of ["s3", "mapi"] as const) {
    const { admission } = proven(storeIdentities("native"));
    const context = new RequestContext(new Request("http://stackroom.example/", { method: "DELETE" }));
    await admission.admit(context, { ...CLAIMS, pwd: "another" }, protocol);
    assert.equal(context.admitted, "unproven");
    await context.prove?.();
    assert.ok(context.prove);
  }
});
