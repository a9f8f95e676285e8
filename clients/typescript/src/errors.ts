/** The error of every call, and of a wait that ends at its timeout. */

/** Requests that did not match a rule, because of the same field and the same value. */
export type NearMiss = { field: string; wanted: unknown; got: unknown; count: number; message: string };

/** A call that the broker refuses, or that nothing responds to. */
export class FauxkaError extends Error {
  override name = "FauxkaError";

  /**
   * status: of HTTP; null if nothing responded. field: the invalid field or parameter with the API's own name, such as
   * "match.client_id"; null without one.
   */
  constructor(
    message: string,
    readonly status: number | null,
    readonly field: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Fewer hits than expected within the timeout. The message has the near misses. */
export class WaitTimeoutError extends FauxkaError {
  override name = "WaitTimeoutError";

  constructor(message: string, readonly hits: number, readonly nearMisses: readonly NearMiss[]) {
    super(message, 408);
  }
}
