import assert from "node:assert/strict";
import fc from "fast-check";
import { HttpError } from "@/lib/http/errors.ts";
import { holds, type ObjectState, preconditions, rejectConditions, sourcePreconditions } from "@/lib/s3/objects.ts";

const MODIFIED = Date.UTC(2026, 10, 20, 7, 31, 17, 400);
const OBJECT: ObjectState = { etag: '"abc"', modifiedMs: MODIFIED };
const AT = "Fri, 20 Nov 2026 07:31:17 GMT";
const BEFORE = "Fri, 20 Nov 2026 07:31:16 GMT";

function outcome(headers: HeadersInit, object: ObjectState | null): boolean | string | null {
  try {
    const conditions = preconditions(new Headers(headers));
    return conditions && holds(conditions, object);
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return `${error.status} ${error.message}`;
  }
}

Deno.test("conditions: each form of each header, for an object and for none", () => {
  const TAGS = "must be * or a list of ETags";
  const DATE = "400 if-unmodified-since: must be an HTTP date";
  const cases: [HeadersInit, boolean | string | null, boolean | string | null][] = [
    [{}, null, null],
    [{ "if-match": '"abc"' }, true, false],
    [{ "if-match": "abc" }, true, false],
    [{ "if-match": ' "abc" ' }, true, false],
    [{ "if-match": "*" }, true, false],
    [{ "if-match": '"*"' }, false, false],
    [{ "if-match": '"x","abc"' }, true, false],
    [{ "if-match": "x , abc" }, true, false],
    [{ "if-match": '"x",, "y"' }, false, false],
    [{ "if-match": 'W/"abc"' }, false, false],
    [[["if-match", '"x"'], ["if-match", '"abc"']], true, false],
    [{ "if-none-match": "*" }, false, true],
    [{ "if-none-match": '"abc"' }, false, true],
    [{ "if-none-match": 'W/"abc"' }, false, true],
    [{ "if-none-match": '"x", "y"' }, true, true],
    [{ "if-unmodified-since": AT }, true, true],
    [{ "if-unmodified-since": BEFORE }, false, true],
    [{ "if-unmodified-since": "Friday, 20-Nov-26 07:31:16 GMT" }, false, true],
    [{ "if-unmodified-since": "Fri Nov 20 07:31:16 2026" }, false, true],
    [{ "if-match": '"abc"', "if-unmodified-since": BEFORE }, true, false],
    [{ "if-match": '"abc"', "if-none-match": '"abc"' }, false, false],
    [{ "if-modified-since": AT }, null, null],
    ...['"abc', 'abc"', "W/abc", "a b", '"abc" "d"', "*,*", '"a", *', "", ",", '"\xe5"', "\xe5"].map((value) =>
      [{ "if-match": value }, `400 if-match: ${TAGS}`, `400 if-match: ${TAGS}`] as [HeadersInit, string, string]
    ),
    [{ "if-none-match": "'" + '"' }, `400 if-none-match: ${TAGS}`, `400 if-none-match: ${TAGS}`],
    ...["", "yesterday", "1", "2026-11-20T07:31:17Z", "Mon, 31 Feb 2026 07:31:17 GMT", `${AT}, ${AT}`].map((value) =>
      [{ "if-unmodified-since": value }, DATE, DATE] as [HeadersInit, string, string]
    ),
  ];
  for (const [headers, present, absent] of cases) {
    assert.equal(outcome(headers, OBJECT), present, JSON.stringify(headers));
    assert.equal(outcome(headers, null), absent, JSON.stringify(headers));
  }
});

Deno.test("conditions: a store's weak ETag matches weakly alone, none matches nothing, a date that it left out fails nothing", () => {
  const weak = { etag: 'W/"abc"', modifiedMs: null };
  assert.equal(outcome({ "if-match": '"abc"' }, weak), false);
  assert.equal(outcome({ "if-none-match": '"abc"' }, weak), false);
  assert.equal(outcome({ "if-match": '"abc"' }, { etag: null, modifiedMs: null }), false);
  assert.equal(outcome({ "if-match": "*" }, { etag: null, modifiedMs: null }), true);
  assert.equal(outcome({ "if-unmodified-since": BEFORE }, weak), true);
});

Deno.test("conditions: those of a source have their prefix, and a date since which it was modified", () => {
  const source = (headers: HeadersInit) => {
    const conditions = sourcePreconditions(new Headers(headers));
    return conditions && holds(conditions, OBJECT);
  };
  assert.equal(source({ "if-match": '"x"' }), null);
  assert.equal(source({ "x-amz-copy-source-if-match": '"x"' }), false);
  assert.equal(source({ "x-amz-copy-source-if-none-match": '"abc"' }), false);
  assert.equal(source({ "x-amz-copy-source-if-unmodified-since": BEFORE }), false);
  assert.equal(source({ "x-amz-copy-source-if-modified-since": AT }), false);
  assert.equal(source({ "x-amz-copy-source-if-modified-since": BEFORE }), true);
  assert.throws(
    () => source({ "x-amz-copy-source-if-match": '"x' }),
    /^HttpError: x-amz-copy-source-if-match: must be/,
  );
});

Deno.test("conditions: a list holds where one of its tags does, whatever stands between them; any other text is 400", () => {
  const tag = fc.stringMatching(/^[!#-)+\-.0-~]{1,20}$/).filter((text) => !text.startsWith("W/"));
  const blank = fc.constantFrom("", " ", "\t", " ,", ", ,");
  fc.assert(fc.property(fc.array(fc.tuple(tag, fc.boolean(), blank), { minLength: 1 }), tag, (tags, other) => {
    const text = tags.map(([tag, isQuoted, blank]) => `${isQuoted ? `"${tag}"` : tag}${blank}`).join(",");
    for (const etag of [...tags.map(([tag]) => tag), other]) {
      const isListed = tags.some(([tag]) => tag === etag);
      assert.equal(outcome({ "if-match": text }, { etag: `"${etag}"`, modifiedMs: null }), isListed);
      assert.equal(outcome({ "if-none-match": text }, { etag: `"${etag}"`, modifiedMs: null }), !isListed);
    }
  }));
  fc.assert(fc.property(fc.stringMatching(/^[\x20-\x7e]*$/), (text) => {
    const result = outcome({ "if-match": text }, OBJECT);
    assert.ok(typeof result === "boolean" || String(result).startsWith("400 if-match: "));
  }));
});

Deno.test("conditions: what an operation does not hold is 501 by its name", () => {
  const rejected = (name: string, takes: Parameters<typeof rejectConditions>[1]) => {
    try {
      rejectConditions(new Headers({ [name]: "x" }), takes);
      return null;
    } catch (error) {
      assert.ok(error instanceof HttpError && error.message.startsWith(`${name}: `));
      return error.status;
    }
  };
  for (const name of ["if-match", "if-none-match", "if-unmodified-since"]) {
    assert.deepEqual([rejected(name, "none"), rejected(name, "target")], [501, null]);
    const source = `x-amz-copy-source-${name}`;
    assert.deepEqual([rejected(source, "target"), rejected(source, "target and source")], [501, null]);
  }
  assert.equal(rejected("x-amz-if-match-size", "target and source"), 501);
  assert.equal(rejected("if-modified-since", "none"), null, "only reads have it");
});
