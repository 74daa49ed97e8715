/** The tenant in which campaigns keep their results. */
export const RESULTS_TENANT = "archive";

/** The account that campaigns write their results with, in that tenant. */
export const CONVERTER = "converter";
