import type { ErrorDetail } from '#shared/contracts/errors.ts'

/** `meta` of list responses (specification §2). */
export interface ListMeta {
  readonly next_cursor: string | null
  readonly has_more: boolean
}

/** The text of a success envelope around an already serialised resource or list. */
export function successEnvelope(dataJson: string, meta: ListMeta | null, requestId: string): string {
  const metaJson = meta === null ? '' : `"meta":${JSON.stringify(meta)},`
  return `{"data":${dataJson},${metaJson}"error":null,"request_id":"${requestId}"}`
}

/** The text of an error envelope. */
export function errorEnvelope(
  error: { readonly code: string; readonly message: string; readonly details: readonly ErrorDetail[] | undefined },
  requestId: string,
): string {
  const { code, message, details } = error
  return JSON.stringify({
    data: null,
    error: details === undefined ? { code, message } : { code, message, details },
    request_id: requestId,
  })
}
