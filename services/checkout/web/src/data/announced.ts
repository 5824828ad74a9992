import type { HintView, InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { isFinal } from '../format/problem-text.ts'
import { request } from './request.ts'

/** Waits between tries to announce a transaction; the network finds it without that, only later. */
const RETRY_MS = [1_000, 3_000, 9_000, 27_000]

interface ViewResponse {
  readonly now: number
  readonly view: InvoiceView
}

const keyOf = (invoiceId: string) => `paymesh-sent ${invoiceId}`

/** What wallets of this browser sent for an invoice, the oldest first. Nothing without storage. */
export function sentHere(invoiceId: string): readonly HintView[] {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(invoiceId)) ?? '[]') as readonly HintView[]
  } catch {
    return []
  }
}

/** Remembers what a wallet of this browser sent, so that a reload still shows it. */
export function rememberSent(invoiceId: string, txHash: string, at: number): void {
  try {
    const known = sentHere(invoiceId).filter((hint) => hint.txHash !== txHash)
    sessionStorage.setItem(keyOf(invoiceId), JSON.stringify([...known, { txHash, explorerUrl: null, at }]))
  } catch {
    // Without storage the server's copy is all that a reload shows.
  }
}

/** What `announceSent` is giving to the server, by invoice and transaction. */
const underWay = new Map<string, Promise<void>>()

/**
 * Gives a transaction's id to the invoice; tries again while the server cannot be reached. Calls for one that is under way join it: the
 * list asks for what the server does not show yet, also right after the wallet sent it. The view goes to the first caller's `accept` alone.
 * Never rejects.
 */
export function announceSent(
  invoiceId: string,
  txHash: string,
  accept: (view: InvoiceView, now: number) => void,
): Promise<void> {
  const key = `${invoiceId} ${txHash}`
  const known = underWay.get(key)
  if (known !== undefined) return known
  const announcing = announce(invoiceId, txHash, accept).finally(() => underWay.delete(key))
  underWay.set(key, announcing)
  return announcing
}

async function announce(
  invoiceId: string,
  txHash: string,
  accept: (view: InvoiceView, now: number) => void,
): Promise<void> {
  for (const wait of [0, ...RETRY_MS]) {
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const answer = await request<ViewResponse>(`/i/${invoiceId}/hint`, 'view', { body: { txHash } })
    if (answer.ok) {
      accept(answer.data.view, answer.data.now)
      return
    }
    if (isFinal(answer.problem)) return
  }
}

/** Transactions that were announced, by this browser or any other, and that the network has not shown. */
export function announcedOf(view: InvoiceView): readonly (HintView & { readonly isMine: boolean })[] {
  const found = new Set(view.payments.map(({ txHash }) => txHash))
  const mine = sentHere(view.id)
  const isMine = (txHash: string) => mine.some((hint) => hint.txHash === txHash)
  const stored = view.hints
  const local = mine.filter(({ txHash }) => !stored.some((hint) => hint.txHash === txHash))
  return [...stored, ...local]
    .filter(({ txHash }) => !found.has(txHash))
    .map((hint) => ({ ...hint, isMine: isMine(hint.txHash) }))
}
