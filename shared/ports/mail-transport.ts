import type { Ms } from '#shared/domain/invoice/model.ts'

/** A finished message. */
export interface OutgoingMail {
  /** With its angle brackets; the same for every try, so that a receiver can recognise a duplicate. */
  readonly messageId: string
  /** One plain address. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly date: Ms
}

/**
 * Why a mail was not accepted. `refused`: the server rejected this recipient or message permanently. `deferred`: it asked
 * to retry later. `unclear`: the connection ended after the message was sent. `server`: the server was not reached, or its
 * objection has nothing to do with this mail. `stopped`: this process cut it off.
 */
export type MailFault = 'refused' | 'deferred' | 'unclear' | 'server' | 'stopped'

export type MailResult =
  | { readonly outcome: 'sent'; readonly reply: string }
  | { readonly outcome: 'failed'; readonly fault: MailFault; readonly reason: string }

/** Hands one message to a mail server. Never throws and ends within 30 s. */
export interface MailTransport {
  send(mail: OutgoingMail): Promise<MailResult>
}
