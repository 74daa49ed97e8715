import { z } from "zod";
import { issueToken, resolveLogin, type TokenFormat, type TokenKey } from "@/lib/auth/admission.ts";
import type { RequestContext, UnprovenRequests } from "@/lib/http/request_context.ts";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import type { GatewayOperation } from "./operation.ts";

const MAX_CREDENTIAL_CHARACTERS = 1024;

const loginForm = z.object({
  username: z.string().min(1).max(MAX_CREDENTIAL_CHARACTERS).meta({
    description: "`name` (system level) or `tenant/name`",
    examples: ["archive/curator"],
  }),
  password: z.string().min(1).max(MAX_CREDENTIAL_CHARACTERS).meta({ format: "password" }),
  tenant: z.string().optional().meta({
    description: "Takes precedence over a tenant in the username",
    examples: ["archive"],
  }),
  grant_type: z.literal("password").optional(),
  scope: z.string().optional().meta({ description: "Ignored" }),
  client_id: z.string().optional().meta({ description: "Ignored" }),
  client_secret: z.string().optional().meta({ description: "Ignored" }),
}).meta({ id: "LoginForm" });

const tokenAnswer = z.object({ access_token: z.string(), token_type: z.literal("bearer") }).meta({ id: "Token" });

interface TokenSettings {
  readonly key: TokenKey;
  readonly format: TokenFormat;
  readonly lifetimeMinutes: number;
  /** ms since 1970 */
  readonly now: () => number;
  /** Bounds the logins under way, since any client may send one. */
  readonly slots: UnprovenRequests;
}

/** Login: the only gateway operation that needs no token. It checks nothing; the store does, on later requests. */
export function authOperations({ key, format, lifetimeMinutes, now, slots }: TokenSettings): Operation[] {
  return [
    publicOperation({
      id: "login",
      method: "POST",
      path: "/api/v1/auth/token",
      tag: "Authentication",
      summary: "Log in and get a bearer token",
      description: `Does not check the credentials: with wrong ones, later requests fail with 401 or 403. ` +
        `The token is valid for ${lifetimeMinutes} minutes.`,
      body: { kind: "form", schema: loginForm },
      responses: {
        200: { description: "The bearer token", schema: tokenAnswer },
        422: { description: "A field is missing, or the tenant name is invalid" },
        503: { description: "Too many logins at a time; retry after `Retry-After`" },
      },
      async handler({ body }, context) {
        const { username, tenant } = resolveLogin(body);
        context.caller = { username, tenant };
        const token = await issueToken({ sub: username, pwd: body.password, tenant }, key, {
          nowSeconds: now() / 1000,
          lifetimeMinutes,
          format,
        });
        return Response.json({ access_token: token, token_type: "bearer" });
      },
    }, async (context) => {
      // A page that logs in has read its form already, under a slot that its own request holds.
      if (context.info?.body) return;
      try {
        context.hold(await slots.enter(context));
      } catch (error) {
        cancelBody(context.request);
        throw error;
      }
    }),
  ];
}

/** `STORAGE_BACKEND`: an HCP-type store, or plain S3 (both other words mean the same). */
export type StorageBackend = "hcp" | "minio" | "generic";

const capabilities = z.object({
  mapi_enabled: z.boolean(),
  storage_backend: z.enum(["hcp", "minio", "generic"]),
}).meta({ id: "Capabilities" });

/** The capabilities, for clients that have not logged in. */
export function capabilitiesOperations(
  current: z.output<typeof capabilities>,
  admit: (context: RequestContext) => void,
): Operation[] {
  return [
    publicOperation({
      id: "capabilities",
      method: "GET",
      path: "/api/v1/capabilities",
      tag: "Health",
      summary: "List the features of this gateway",
      responses: { 200: { description: "The capabilities", schema: capabilities } },
      handler: (_input) => Response.json(current),
    }, admit),
  ];
}

const credentials = z.object({
  access_key_id: z.string(),
  secret_access_key: z.string(),
  username: z.string().nullable(),
  tenant: z.string().nullable(),
  endpoint_url: z.string().nullable(),
}).meta({ id: "S3Credentials" });

/** The caller's own S3 credentials, for S3 tools. */
export function credentialsOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "credentials",
      method: "GET",
      path: "/api/v1/credentials",
      tag: "S3 Credentials",
      summary: "Get the caller's S3 keys and endpoint",
      responses: { 200: { description: "The S3 credentials", schema: credentials } },
      async handler({ caller }) {
        const address = await s3.addresses.s3(caller.tenant);
        return Response.json({
          access_key_id: caller.s3.accessKey,
          secret_access_key: caller.s3.secretKey,
          username: caller.named ? caller.username : null,
          tenant: caller.named ? caller.tenant : null,
          endpoint_url: address?.publicEndpoint ?? null,
        });
      },
    }),
  ];
}
