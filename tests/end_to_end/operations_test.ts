import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { logIn, resultsCookie } from "./gateway_client.ts";

type Json = Record<string, unknown>;
type Paths = Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;

/** The documents that earlier calls returned, by operation id; empty where a response was not JSON. */
type Answers = Readonly<Record<string, Json>>;

/** An operation id, method and path below `/api/v1`, and a body. What depends on earlier answers is a function of them. */
type Call = readonly [id: string, target: Given<string>, body?: Given<unknown>];
type Given<T> = T | ((answers: Answers) => T);

const TENANT = "/mapi/tenants/archive";
const NAMESPACE = `${TENANT}/namespaces/called`;
const OBJECT = "/buckets/called-by-s3/objects/a/b";
const UPLOAD = "/buckets/called-by-s3/multipart/upload";

const FIRST_USER = "username=boss&password=boss-1234&forcePasswordChange=false";
const READ_CALLED = { namespacePermission: [{ namespaceName: "called", permissions: { permission: ["READ"] } }] };
const CORS = {
  cors: "<CORSConfiguration><CORSRule><AllowedOrigin>https://a.example.org</AllowedOrigin>" +
    "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>",
};

/** Creations of the system level. */
const OF_SYSTEM: readonly Call[] = [
  ["create_tenant", `PUT /mapi/tenants?${FIRST_USER}`, { name: "called-a" }],
  ["create_system_tenant", `PUT /mapi/system/tenants?${FIRST_USER}`, { name: "called-b" }],
  ["update_tenant", "POST /mapi/tenants/called-a", { tenantVisibleDescription: "Called" }],
  ["delete_tenant", "DELETE /mapi/tenants/called-a"],
];

/** Creations by a tenant's administrator, of what is read then. */
const CREATIONS: readonly Call[] = [
  ["create_namespace", `PUT ${TENANT}/namespaces`, { name: "called", hardQuota: "2 GB" }],
  ["create_user_account", `PUT ${TENANT}/userAccounts?password=called-1`, {
    username: "called",
    fullName: "Called",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
  }],
  ["create_group_account", `PUT ${TENANT}/groupAccounts`, { groupname: "called", roles: { role: ["MONITOR"] } }],
  ["create_content_class", `PUT ${TENANT}/contentClasses`, {
    name: "called",
    contentProperties: [{ name: "title", expression: "/doc/title", type: "STRING" }],
    namespaces: ["called"],
  }],
  ["create_retention_class", `PUT ${NAMESPACE}/retentionClasses`, { name: "called", value: "A+7y-1M" }],
  ["set_tenant_cors", `PUT ${TENANT}/cors`, CORS],
  ["set_namespace_cors", `PUT ${NAMESPACE}/cors`, CORS],
];

/** The management operations that read, from the document: each reads the tenant or what the creations have made. */
function readsOf(paths: Paths): Call[] {
  return Object.entries(paths).filter(([path]) => path.startsWith("/api/v1/mapi/")).flatMap(([path, methods]) =>
    Object.entries(methods).filter(([method]) => method === "get" || method === "head").map(
      ([method, { operationId: id }]): Call => {
        const names = (_: string, name: string) => name === "tenant_name" ? "archive" : PARAMETERS[name] ?? "called";
        const query = id === "export_namespaces" ? "?names=called" : "";
        return [id, `${method.toUpperCase()} ${belowApi(path.replace(/\{(\w+)\}/g, names))}${query}`];
      },
    )
  );
}

/** What the names in paths stand for, where that is not what was created. */
const PARAMETERS: Readonly<Record<string, string>> = { plan_name: "Default" };

/** Changes by a tenant's administrator, and operations of the data plane, in an order in which each finds what it needs. */
const OF_TENANT: readonly Call[] = [
  ["update_console_security", `POST ${TENANT}/consoleSecurity`, { minimumPasswordLength: 7 }],
  ["update_contact_info", `POST ${TENANT}/contactInfo`, { firstName: "Anna" }],
  ["update_email_notification", `POST ${TENANT}/emailNotification`, { enabled: true }],
  ["update_namespace_defaults", `POST ${TENANT}/namespaceDefaults`, { softQuota: 80 }],
  ["update_search_security", `POST ${TENANT}/searchSecurity`, { ipSettings: { allowAddresses: ["10.0.0.1"] } }],
  ["update_tenant_permissions", `POST ${TENANT}/permissions`, {
    permission: ["READ", "WRITE", "DELETE", "PURGE", "PRIVILEGED", "SEARCH"],
  }],
  ["update_user_account", `POST ${TENANT}/userAccounts/called`, { fullName: "Called again" }],
  ["change_password", `POST ${TENANT}/userAccounts/called/changePassword`, { newPassword: "called-2" }],
  ["update_user_data_access_permissions", `POST ${TENANT}/userAccounts/called/dataAccessPermissions`, READ_CALLED],
  ["update_group_account", `POST ${TENANT}/groupAccounts/called`, { roles: { role: [] } }],
  ["update_group_data_access_permissions", `POST ${TENANT}/groupAccounts/called/dataAccessPermissions`, READ_CALLED],
  ["update_content_class", `POST ${TENANT}/contentClasses/called`, { namespaces: { name: [] } }],
  ["update_namespace", `POST ${NAMESPACE}`, { description: "Called" }],
  ["update_retention_class", `POST ${NAMESPACE}/retentionClasses/called`, { value: "A+8y" }],
  ["update_versioning_settings", `POST ${NAMESPACE}/versioningSettings`, { enabled: true }],
  ["update_compliance_settings", `POST ${NAMESPACE}/complianceSettings`, { shreddingDefault: true }],
  ["update_replication_collision_settings", `POST ${NAMESPACE}/replicationCollisionSettings`, { action: "RENAME" }],
  ["update_namespace_permissions", `POST ${NAMESPACE}/permissions`, { permission: ["READ", "WRITE", "DELETE"] }],
  ["update_http_protocol", `POST ${NAMESPACE}/protocols/http`, { hs3Enabled: true }],
  ["update_cifs_protocol", `POST ${NAMESPACE}/protocols/cifs`, { enabled: false }],
  ["update_nfs_protocol", `POST ${NAMESPACE}/protocols/nfs`, { enabled: false }],
  ["update_smtp_protocol", `POST ${NAMESPACE}/protocols/smtp`, { enabled: false }],
  ["update_custom_metadata_indexing_settings", `POST ${NAMESPACE}/customMetadataIndexingSettings`, {
    fullIndexingEnabled: true,
  }],
  ["delete_versioning_settings", `DELETE ${NAMESPACE}/versioningSettings`],
  ["delete_tenant_cors", `DELETE ${TENANT}/cors`],
  ["delete_namespace_cors", `DELETE ${NAMESPACE}/cors`],
  ["delete_retention_class", `DELETE ${NAMESPACE}/retentionClasses/called`],
  ["capabilities", "GET /capabilities"],
  ["credentials", "GET /credentials"],
  ["list_audit_records", "GET /audit?count=1"],
  ["list_buckets", "GET /buckets"],
  ["create_bucket", "POST /buckets", { bucket: "called-by-s3" }],
  ["head_bucket", "HEAD /buckets/called-by-s3"],
  ["get_bucket_versioning", "GET /buckets/called-by-s3/versioning"],
  ["put_bucket_versioning", "PUT /buckets/called-by-s3/versioning", { status: "Suspended" }],
  ["put_bucket_cors", "PUT /buckets/called-by-s3/cors", {
    CORSRules: [{ AllowedMethods: ["GET"], AllowedOrigins: ["https://a.example.org"] }],
  }],
  ["get_bucket_cors", "GET /buckets/called-by-s3/cors"],
  ["delete_bucket_cors", "DELETE /buckets/called-by-s3/cors"],
  ["get_bucket_acl", "GET /buckets/called-by-s3/acl"],
  ["put_bucket_acl", "PUT /buckets/called-by-s3/acl", { Grants: [] }],
  ["put_object", `PUT ${OBJECT}`, "text"],
  ["post_object", "POST /buckets/called-by-s3/objects/form", form()],
  ["get_object", `GET ${OBJECT}`],
  ["head_object", `HEAD ${OBJECT}`],
  ["get_object_acl", `GET ${OBJECT}/acl`],
  ["put_object_acl", `PUT ${OBJECT}/acl`, { Grants: [] }],
  ["put_object_tags", "PUT /buckets/called-by-s3/tags/a/b", { tags: { project: "1700s" } }],
  ["get_object_tags", "GET /buckets/called-by-s3/tags/a/b"],
  ["delete_object_tags", "DELETE /buckets/called-by-s3/tags/a/b"],
  ["copy_object", "POST /buckets/called-by-s3/objects/copied/copy", {
    source_bucket: "called-by-s3",
    source_key: "a/b",
  }],
  ["create_folder", "POST /buckets/called-by-s3/objects/folder", { folder_name: "folder" }],
  ["list_objects", "GET /buckets/called-by-s3/objects"],
  ["list_versions", "GET /buckets/called-by-s3/versions"],
  ["list_object_versions", "GET /buckets/called-by-s3/versions/a/b"],
  ["put_bucket_versioning", "PUT /buckets/called-by-s3/versioning", { status: "Enabled" }],
  ["put_object", `PUT ${OBJECT}`, "newer text"],
  ["restore_object_version", "POST /buckets/called-by-s3/restore/a/b", { version_id: "null" }],
  ["start_zip", "POST /buckets/called-by-s3/objects/download", { prefix: "" }],
  ["poll_zip", ({ start_zip: { task_id } }) => `GET /buckets/called-by-s3/objects/download/${task_id}`],
  ["list_tasks", "GET /tasks"],
  ["presign", "POST /presign", { bucket: "called-by-s3", key: "a/b" }],
  ["presign", "POST /presign", {
    bucket: "called-by-s3",
    key: "a/b",
    method: "put_object",
    checksum_sha256: "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
  }],
  ["presign_objects", "POST /buckets/called-by-s3/objects/presign", { keys: ["a/b"] }],
  ["presign_objects", "POST /buckets/called-by-s3/objects/presign", {
    objects: [{ key: "a/b", content_type: "image/tiff" }],
    method: "put_object",
  }],
  ["start_count", "POST /buckets/called-by-s3/objects/s3_stats?delimiter=/"],
  ["get_count", ({ start_count: { task_id } }) => `GET /buckets/called-by-s3/objects/s3_stats/${task_id}`],
  ["start_fixity", "POST /buckets/called-by-s3/fixity", {}],
  ["list_fixity", "GET /buckets/called-by-s3/fixity"],
  ["get_fixity", ({ start_fixity: { task_id } }) => `GET /buckets/called-by-s3/fixity/${task_id}`],
  ["get_fixity_report", ({ start_fixity: { task_id } }) => `GET /buckets/called-by-s3/fixity/${task_id}/report`],
  ["list_fixity_schedules", "GET /fixity/schedules"],
  ["cancel_fixity", ({ start_fixity: { task_id } }) => `DELETE /buckets/called-by-s3/fixity/${task_id}`],
  ["start_transfer", "POST /buckets/called-by-s3/transfer", {
    mode: "copy",
    prefixes: ["copied"],
    from: "copied",
    to: { bucket: "called-by-s3", prefix: "transferred" },
  }],
  ["get_transfer", ({ start_transfer: { task_id } }) => `GET /buckets/called-by-s3/transfer/${task_id}`],
  ["cancel_transfer", ({ start_transfer: { task_id } }) => `POST /buckets/called-by-s3/transfer/${task_id}/cancel`],
  ["start_delete", "POST /buckets/called-by-s3/objects/delete-task", { prefixes: ["copied", "transferred"] }],
  ["get_delete", ({ start_delete: { task_id } }) => `GET /buckets/called-by-s3/objects/delete-task/${task_id}`],
  [
    "cancel_delete",
    ({ start_delete: { task_id } }) => `POST /buckets/called-by-s3/objects/delete-task/${task_id}/cancel`,
  ],
  ["delete_object", `DELETE ${OBJECT}`],
  ["delete_objects", "POST /buckets/called-by-s3/objects/delete", { keys: ["form"] }],
  ["create_multipart_upload", `POST ${UPLOAD}`],
  ["list_uploads", "GET /buckets/called-by-s3/uploads"],
  [
    "presign_parts",
    `POST ${UPLOAD}/presign`,
    ({ create_multipart_upload: { upload_id } }: Answers) => ({ upload_id, file_size: 4 }),
  ],
  [
    "upload_part",
    ({ create_multipart_upload: { upload_id } }) => `PUT ${UPLOAD}?upload_id=${upload_id}&part_number=1`,
    "part",
  ],
  ["list_parts", ({ create_multipart_upload: { upload_id } }) => `GET ${UPLOAD}/parts?upload_id=${upload_id}`],
  [
    "complete_multipart_upload",
    `POST ${UPLOAD}/complete`,
    ({ create_multipart_upload: { upload_id }, list_parts: { parts } }: Answers) => ({ upload_id, parts }),
  ],
  ["create_multipart_upload", `POST ${UPLOAD}`],
  [
    "abort_multipart_upload",
    `POST ${UPLOAD}/abort`,
    ({ create_multipart_upload: { upload_id } }: Answers) => ({ upload_id }),
  ],
  ["head_zip", ({ start_zip: { download_url } }) => `HEAD ${belowApi(download_url)}`],
  ["download_zip", ({ start_zip: { download_url } }) => `GET ${belowApi(download_url)}`],
  ["cancel_task", ({ start_zip: { task_id } }) => `POST /tasks/${task_id}/cancel`],
  ["delete_bucket", "DELETE /buckets/called-by-s3?force=true"],
  ["delete_content_class", `DELETE ${TENANT}/contentClasses/called`],
  ["delete_namespace", `DELETE ${NAMESPACE}`],
  ["delete_group_account", `DELETE ${TENANT}/groupAccounts/called`],
  ["delete_user_account", `DELETE ${TENANT}/userAccounts/called`],
  ["reset_passwords", `POST ${TENANT}/userAccounts?resetPasswords=stackroom-demo-2`],
];

/** Operations of the read API, with the session cookie. */
const OF_SESSION: readonly Call[] = [
  ["version", "GET /version"],
  ["version_head", "HEAD /version"],
  ["list_campaigns", "GET /jobs"],
  ["list_campaigns_head", "HEAD /jobs"],
  ["campaign", (answers) => `GET ${firstCampaign(answers)}`],
  ["campaign_head", (answers) => `HEAD ${firstCampaign(answers)}`],
];

/** Probes stand outside of `/api/v1`, and are not logged. */
const PROBES = ["healthz", "readyz", "liveness", "readiness", "health"];

function firstCampaign({ list_campaigns: jobs }: Answers): string {
  assert.ok(Array.isArray(jobs) && jobs.length > 0);
  return `/jobs/${jobs[0].namespace}/${jobs[0].name}`;
}

function belowApi(address: unknown): string {
  assert.ok(typeof address === "string" && address.startsWith("/api/v1/"));
  return address.slice("/api/v1".length);
}

function form(): FormData {
  const fields = new FormData();
  fields.set("file", new File(["text"], "form.txt"));
  return fields;
}

/** Makes the calls in their order, each with its operation id as the request's own, and expects each to succeed. */
async function callAll(base: string, headers: Record<string, string>, calls: readonly Call[]): Promise<void> {
  const answers: Record<string, Json> = {};
  for (const [id, target, body] of calls) {
    const [method, path] = given(target, answers).split(" ");
    const call = async () => {
      const response = await fetch(base + path, {
        method,
        headers: { ...headers, "X-Request-ID": `called.${id}` },
        body: asBody(given(body, answers)),
      });
      return { response, text: await response.text() };
    };
    // 409: a task has not ended yet.
    const { response, text } = await until(`${id} without 409`, async () => {
      const called = await call();
      return called.response.status === 409 ? null : called;
    });
    assert.ok(response.ok, `${id}: ${response.status} ${text}`);
    answers[id] = response.headers.get("content-type")?.startsWith("application/json") && text ? JSON.parse(text) : {};
  }
}

function given<T>(value: Given<T>, answers: Answers): T {
  return value instanceof Function ? value(answers) : value;
}

function asBody(body: unknown): BodyInit | undefined {
  return body === undefined || typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body);
}

Deno.test("operations: each one of /openapi.json is called by its id, succeeds, and is logged under that id", async () => {
  const application = await startApplication();
  try {
    const base = `${application.site}api/v1`;
    const { paths }: { paths: Paths } = await (await fetch(`${application.site}openapi.json`)).json();
    const as = async (login: string) => ({ authorization: (await logIn(application.site, login)).authorization });
    const reads = readsOf(paths);
    const isOfSystem = ([, target]: Call) => !String(target).includes(TENANT);
    const ofSystem = [...reads.filter(isOfSystem), ...OF_SYSTEM];
    const ofTenant = [...CREATIONS, ...reads.filter((call) => !isOfSystem(call)), ...OF_TENANT];
    const called = [...ofSystem, ...ofTenant, ...OF_SESSION].map(([id]) => id);
    await callAll(base, await as("admin"), ofSystem);
    await callAll(base, { cookie: await resultsCookie(application.site, "archive/reader") }, OF_SESSION);
    await callAll(base, await as("archive/curator"), ofTenant);
    for (const probe of PROBES) assert.ok((await fetch(application.site + probe)).ok, probe);
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    assert.deepEqual([...new Set([...called, ...PROBES, "login"])].sort(), ids.sort());

    // Lines are written some at a time.
    const logged = await until("the line of each call", () => {
      const lines = application.output().split("\n").slice(0, -1).filter((line) => line.startsWith("{"));
      const entries = new Map(lines.map((line) => JSON.parse(line)).map((entry) => [entry.request_id, entry]));
      return called.every((id) => entries.has(`called.${id}`)) ? entries : null;
    });
    for (const id of called) assert.equal(logged.get(`called.${id}`).operation, id);
  } finally {
    await application.stop();
  }
});
