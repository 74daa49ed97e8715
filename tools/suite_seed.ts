import fc from "fast-check";

// Loaded before the tests of the suite: it judges a commit, so its properties try the same inputs each time. Rare
// counterexamples are for `deno task fuzz`, which tries others, as does a test file that is run alone.
fc.configureGlobal({ seed: 1 });
