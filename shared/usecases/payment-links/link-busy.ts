import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Every use of a link is held, or every one that a connection may hold: a payer may get one after `retryAfter` seconds. */
export class LinkBusy extends PaymeshError {
  /** Null when payers keep all uses. */
  readonly retryAfter: number | null

  private constructor(
    options: ConstructorParameters<typeof PaymeshError>[1],
    retryAfter: number | null,
    code: 'INVALID_STATE' | 'RATE_LIMITED',
  ) {
    super(code, options)
    this.retryAfter = retryAfter
  }

  /** Of all payers; `waitMs` until the first use may return, null when none will. */
  static ofEverybody(waitMs: Ms | null): LinkBusy {
    const minutes = waitMs === null ? null : wholeMinutes(waitMs)
    const hint = minutes === null ? '' : ` Try again in ${minutes} minutes.`
    return new LinkBusy(
      { message: `Every use of this payment link is taken.${hint}` },
      minutes === null ? null : minutes * 60,
      'INVALID_STATE',
    )
  }

  /** Of one connection; the detail's path lets the page say so. */
  static ofConnection(waitMs: Ms): LinkBusy {
    const minutes = wholeMinutes(waitMs)
    const message = `Your connection has unpaid uses of this payment link. Pay them, or try again in ${minutes} minutes.`
    return new LinkBusy(
      {
        message,
        details: [{ path: 'connection', message: 'holds as many unpaid uses as one may, or let them expire' }],
      },
      minutes * 60,
      'RATE_LIMITED',
    )
  }
}

/** A time that is over only waits for its sweep. */
function wholeMinutes(ms: Ms): number {
  return Math.max(1, Math.ceil(ms / 60_000))
}
