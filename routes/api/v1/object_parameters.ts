import { z } from "zod";

/** Which bucket, in the path. */
export const bucketParams = z.object({ bucket: z.string().min(1).meta({ examples: ["notes"] }) });

/** Where an object is, in the path. */
export const objectParams = bucketParams.extend({
  key: z.string().min(1).meta({ description: "May hold slashes", examples: ["2026/first page.txt"] }),
});

/** The way to keys that end in a reserved word. */
export const asObject = z.literal("object").optional().meta({
  description: "Reads the rest of the path as a key even where it ends in a reserved word",
});

/** A text that an address can carry: JSON may hold half of a surrogate pair, UTF-8 cannot. */
export const wellFormed = z.string().refine((text) => text.isWellFormed(), "Input should be well-formed Unicode");
