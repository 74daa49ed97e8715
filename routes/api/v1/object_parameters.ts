import { z } from "zod";

/** Where an object is, in the path. */
export const objectParams = z.object({
  bucket: z.string().min(1).meta({ examples: ["notes"] }),
  key: z.string().min(1).meta({ description: "May hold slashes", examples: ["2026/first page.txt"] }),
});

/** The way to keys that end in a reserved word. */
export const asObject = z.literal("object").optional().meta({
  description: "Reads the rest of the path as a key even where it ends in a reserved word",
});
