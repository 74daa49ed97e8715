type Json = Record<string, unknown>;

/** An OpenAPI document as far as it is walked here. */
export interface Document {
  readonly paths: Record<string, Record<string, DescribedOperation>>;
  readonly components: { readonly schemas: Record<string, Json> };
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Json }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Json }> };
  readonly responses: Record<string, unknown>;
}

/** A value that fits a schema, with every member that it names. */
export function sample(schema: Json, document: Document): unknown {
  const known = resolved(schema, document);
  if (Array.isArray(known.examples) && known.examples.length > 0) return known.examples[0];
  if ("const" in known) return known.const;
  if (Array.isArray(known.enum)) return known.enum[0];
  for (const union of [known.anyOf, known.oneOf]) if (Array.isArray(union)) return sample(union[0], document);
  switch (known.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(members(known)).map(([name, member]) => [name, sample(member, document)]),
      );
    case "array":
      return [sample(isJson(known.items) ? known.items : {}, document)];
    case "integer":
    case "number":
      return Number(known.minimum ?? 1);
    case "boolean":
      return true;
    case "string":
      return "a1";
    default:
      return null;
  }
}

type Parameter = DescribedOperation["parameters"][number];

/** The address of an operation with samples for the parameters of its path, and for those of its query that are wanted. */
export function address(
  path: string,
  { parameters }: DescribedOperation,
  document: Document,
  isWanted: (parameter: Parameter) => boolean = ({ required }) => required,
): string {
  const value = (name: string) =>
    encodeURIComponent(String(sample(parameters.find((one) => one.name === name)?.schema ?? {}, document)));
  const query = parameters.filter((one) => one.in === "query" && isWanted(one));
  return path.replace(/\{(\w+)\}/g, (_, name) => value(name)) +
    query.map(({ name }, at) => `${at === 0 ? "?" : "&"}${name}=${value(name)}`).join("");
}

/** Every operation of a document as a request. */
export function requestsOf(document: Document, isWanted?: (parameter: Parameter) => boolean) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const schema = operation.requestBody?.content["application/json"]?.schema;
      return {
        id: operation.operationId,
        path: address(path, operation, document, isWanted),
        method: method.toUpperCase(),
        body: schema ? JSON.stringify(sample(schema, document)) : operation.requestBody && "x",
      };
    })
  );
}

/** Bodies that do not fit a schema: no object, without a required member, and with each member of a wrong type. */
export function broken(schema: Json, document: Document): unknown[] {
  const known = resolved(schema, document);
  const whole = sample(schema, document);
  if (!isJson(whole)) return [];
  const required = Array.isArray(known.required) ? known.required.map(String) : [];
  return [
    [],
    "text",
    7,
    ...required.map((name) => Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name))),
    ...Object.keys(members(known)).map((name) => ({ ...whole, [name]: { $odd: [[[]]] } })),
    ...Object.keys(members(known)).map((name) => ({ ...whole, [name]: "\ud800".repeat(3) })),
  ];
}

function members(schema: Json): Record<string, Json> {
  const found = isJson(schema.properties) ? Object.entries(schema.properties) : [];
  return Object.fromEntries(found.filter((entry): entry is [string, Json] => isJson(entry[1])));
}

export function resolved(schema: Json, document: Document): Json {
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").at(-1) : undefined;
  return name === undefined ? schema : document.components.schemas[name];
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
