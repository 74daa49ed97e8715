/** Retention classes of namespaces and content classes of tenants: documents with names of their own. */
import { z } from "zod";
import type { Document } from "@/embedded/store/documents.ts";
import {
  conflicting,
  listResponse,
  type MapiMethods,
  notFound,
  permittedNamespace,
  requireRight,
  type TenantRequest,
} from "./mapi_request.ts";
import {
  boolean,
  className,
  isVerbose,
  listed,
  members,
  names,
  oneOf,
  parsed,
  pathName,
  rule,
  selected,
  text,
} from "./request_schema.ts";

/** A kind of classes. */
interface ClassKind {
  readonly kind: string;
  readonly label: string;
  readonly create: z.ZodType<Document & { readonly name: string }>;
  readonly change: z.ZodType<Document>;
  /** Defaults of a new class. */
  readonly defaults?: Document;
  /** The owner of the classes, for callers that may read them: the id of a namespace, or 0 for the tenant. */
  bucket(request: TenantRequest): number;
  /** A document as it is stored, and a stored one as responses show it; unchanged by default. */
  readonly stored?: (document: Document, request: TenantRequest) => Document;
  readonly displayed?: (document: Document, request: TenantRequest) => Document;
}

/** The methods of a kind of classes, and of one class: the last name of the path. */
function classMethods(definition: ClassKind): { readonly all: MapiMethods; readonly one: MapiMethods } {
  const { kind, label, create, change, defaults, bucket, stored = (one) => one, displayed = (one) => one } = definition;
  const scope = (request: TenantRequest) => ({ tenant: request.tenant.id, bucket: bucket(request), kind });
  const named = (request: TenantRequest) => request.names[request.names.length - 1];
  return {
    all: {
      GET: (request) => {
        const records = request.store.documents.documents(scope(request)).map((one) => displayed(one, request));
        return listResponse("name", selected(records, request.query, "name"), isVerbose(request.query));
      },
      PUT: async (request) => {
        requireRight(request.caller, "comply");
        const at = scope(request);
        const { name, ...rest } = parsed(create, await request.body());
        const document = { ...defaults, name, ...stored(rest, request) };
        await request.store.writer.change("setDocument", { ...at, name, mode: "create", document });
      },
    },
    one: {
      GET: (request) => {
        const document = request.store.documents.document(scope(request), named(request));
        if (!document) throw notFound(`${label} ${named(request)}`);
        return Response.json(displayed(document, request));
      },
      POST: async (request) => {
        requireRight(request.caller, "comply");
        const at = scope(request);
        const document = stored(parsed(change, await request.body()), request);
        await request.store.writer.change("setDocument", { ...at, name: named(request), mode: "modify", document });
      },
      DELETE: async (request) => {
        requireRight(request.caller, "comply");
        await request.store.writer.change("deleteDocument", { ...scope(request), name: named(request) });
      },
    },
  };
}

const DURATION =
  /^(?:0|-1|-2|[RANC]?(?:[+-]\d{1,6}[yMwdhms])+|\d{4}-\d{2}-\d{2}(?:T[\d:]{5,8}(?:Z|[+-]\d{2}:?\d{2})?)?)$/;

/** How long objects are retained: 0, -1, -2, an offset such as `A+7y`, a date, or `C+` and a class where that is allowed. */
export function retention(allowsClass: boolean) {
  const requirement = `must be 0, -1, -2, a date, an offset such as A+7y${allowsClass ? " or C+ and a class" : ""}`;
  return z.string(rule(requirement)).refine(
    (value) => DURATION.test(value) || (allowsClass && /^C\+.{1,64}$/.test(value)),
    requirement,
  );
}

const RETENTION = { description: text(1024), allowDisposition: boolean };

/** The retention classes of a namespace. */
export const retentionClasses = classMethods({
  kind: "retentionClasses",
  label: "retention class",
  create: members(RETENTION, { name: className, value: retention(false) }),
  change: members({ ...RETENTION, value: retention(false) }),
  defaults: { description: "", allowDisposition: false },
  bucket: (request) => permittedNamespace(request, "read").id,
});

/** Most properties of one content class. */
const MAX_PROPERTIES = 1000;

const property = members({ multivalued: boolean, format: text(256) }, {
  name: pathName(/^[A-Za-z0-9_]{1,25}$/, "must have 1 to 25 letters, digits and underscores"),
  expression: text(1024, 1),
  type: oneOf("STRING", "INTEGER", "BOOLEAN", "DATE", "DATETIME", "FLOAT", "FULLTEXT"),
});

const CONTENT = {
  contentProperties: listed("contentProperty", property, MAX_PROPERTIES)
    .transform((all) => all.map((one) => ({ multivalued: false, format: null, ...one })))
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "may have each name once"),
  namespaces: names,
};

/**
 * The content classes of a tenant. A list in a change replaces the present one. Their namespaces are stored by GUID, so
 * that these may be renamed.
 */
export const contentClasses = classMethods({
  kind: "contentClasses",
  label: "content class",
  create: members(CONTENT, { name: className }),
  change: members(CONTENT),
  bucket: ({ caller }) => {
    requireRight(caller, "read");
    return 0;
  },
  stored: ({ namespaces, ...rest }, { store, tenant }) => {
    if (!Array.isArray(namespaces)) return rest;
    const guids = namespaces.map((namespace: string) => {
      const bucket = store.buckets.bucket(tenant.id, namespace);
      if (!bucket) throw conflicting("namespaces", "may name only namespaces of the tenant");
      return bucket.guid;
    });
    return { ...rest, namespaces: guids };
  },
  displayed: (document, { store, tenant }) => {
    const guids: readonly unknown[] = Array.isArray(document.namespaces) ? document.namespaces : [];
    const present = guids.length === 0 ? [] : store.buckets.ofTenant(tenant.id);
    const namespaces = present.filter(({ guid }) => guids.includes(guid)).map(({ name }) => name);
    return { contentProperties: [], ...document, namespaces };
  },
});
