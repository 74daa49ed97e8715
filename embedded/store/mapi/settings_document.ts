import type { z } from "zod";
import { type Document, mergedDocument } from "@/embedded/store/documents.ts";
import { MASK_FLAGS, MASK_NAMES } from "@/embedded/store/permission_masks.ts";
import { boolean, each, list, MAX_WORDS, members, oneOf, parsed } from "./body_schema.ts";
import { isVerbose } from "./list_parameters.ts";
import { requireRight, type Right } from "./mapi_caller.ts";
import { type MapiMethods, permittedNamespace, type TenantRequest } from "./mapi_request.ts";

/** A settings document, of which a tenant or a namespace has one: read with GET, changed with POST. */
export interface SettingsDocument {
  /** Its path below the tenant or the namespace. */
  readonly kind: string;
  readonly schema: z.ZodType<Document>;
  readonly defaults: Readonly<Record<string, unknown>>;
  /**
   * Who may read it ("read" by default), and who may change it ("administer" by default). Owners of a namespace may do
   * both, unless a special right is needed.
   */
  readonly read?: Right;
  readonly write?: Right;
  /** Members that cannot be set, shown in the verbose form. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /**
   * Checks the members of a change against the rest of the tenant.
   *
   * @throws {MapiError} 409
   */
  readonly check?: (change: Readonly<Document>, request: TenantRequest) => void;
}

/** The methods of a document of the tenant, or of the namespace that the path names. */
export function documentMethods(definition: SettingsDocument, level: "tenant" | "namespace"): MapiMethods {
  const { kind, schema, defaults, fixed, check, read = "read", write = "administer" } = definition;
  const scope = (request: TenantRequest, right: Right) => {
    // The owner of a namespace needs no right, but for what takes a special one.
    if (level === "tenant" || !["read", "administer"].includes(right)) requireRight(request.caller, right);
    const bucket = level === "tenant" ? 0 : permittedNamespace(request, right).id;
    return { tenant: request.tenant.id, bucket, kind };
  };
  return {
    GET: (request) => {
      const document = request.store.documents.document(scope(request, read));
      return Response.json({
        ...mergedDocument(defaults, document ?? {}),
        ...(fixed && isVerbose(request.query) ? fixed : {}),
      });
    },
    POST: async (request) => {
      const at = scope(request, write);
      const document = parsed(schema, await request.body());
      check?.(document, request);
      await request.store.writer.change("setDocument", { ...at, name: "", mode: "set", document });
    },
  };
}

/** What a tenant or a namespace allows at all, in either form of the document. */
export const permissionsDocument: SettingsDocument = {
  kind: "permissions",
  schema: members({
    permission: list(oneOf(...MASK_NAMES), MAX_WORDS).transform((names) => [...new Set(names)]),
    ...each(Object.keys(MASK_FLAGS), boolean),
  }),
  defaults: { permission: MASK_NAMES },
};
