import { useEffect } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { announcedOf, announceSent } from '../data/announced.ts'
import { roughText, shortHash } from '../format/format-values.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Note } from '../parts/blocks.tsx'

/** After this long without a sign of it, a transaction may have been cancelled or replaced in the wallet. */
const OLD_MS = 10 * 60_000

interface AnnouncedProps {
  readonly view: InvoiceView
  readonly now: number
  readonly accept: (view: InvoiceView, now: number) => void
}

/** What wallets say they sent, until the network shows it. It is never called a payment: only the network's word counts. */
export function AnnouncedList({ view, now, accept }: AnnouncedProps) {
  const { say } = useSpeech()
  const announced = announcedOf(view)
  const { id, hints = [] } = view
  const unknown = announced.find(({ isMine, txHash }) => isMine && !hints.some((hint) => hint.txHash === txHash))
  const unheard = unknown?.txHash ?? null
  useEffect(() => {
    // The page was closed, or the line cut, before the server had it.
    if (unheard !== null) void announceSent(id, unheard, accept)
  }, [id, unheard, accept])
  return (
    <>
      {announced.map(({ txHash, explorerUrl, at, isMine }) => {
        const x = shortHash(txHash)
        const isOld = now - at > OLD_MS
        return (
          <Note key={txHash} tone="pending" icon="eye">
            {isMine && <b>{say('hint.title')}</b>}{' '}
            {isOld ? say('hint.old', { x, t: roughText(now - at) }) : say(isMine ? 'hint.mine' : 'hint.other', { x })}
            {explorerUrl !== null && (
              <>
                {' '}
                <a href={explorerUrl} rel="noreferrer">
                  {say('hint.view')}
                </a>
              </>
            )}
          </Note>
        )
      })}
    </>
  )
}
