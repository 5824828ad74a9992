import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { Card } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useMay, useTo } from '../../session/scope.ts'
import type { Answer } from '../money/answers.ts'

/** Actions that a person can take now. */
export function NextSteps({ answer }: { readonly answer: Answer }) {
  const to = useTo()
  const may = useMay('support')
  const [attaching, setAttaching] = useState<string | null>(null)
  const Dialog = useLoaded(
    attaching !== null,
    async () => (await import('./attach-dialog.tsx')).AttachDialog,
    () => setAttaching(null),
  )
  if (answer.next.length === 0) return null
  return (
    <Card title="What you can do">
      <div className="pm-grid">
        {answer.next.map(({ kind, title, detail, id }) => (
          <div key={`${kind}-${title}`} className="pm-stack pm-step">
            <p className="pm-check-title">{title}</p>
            <p className="pm-muted">{detail}</p>
            <div className="pm-row">
              {kind === 'open_exception' && id !== null ? (
                <Button component={Link} to={to('exceptions', id)} size="xs">
                  Open exception
                </Button>
              ) : null}
              {kind === 'open_invoice' && id !== null ? (
                <Button component={Link} to={to('invoices', id)} size="xs" variant="default">
                  Open invoice
                </Button>
              ) : null}
              {kind === 'attach' && id !== null && may ? (
                <Button size="xs" onClick={() => setAttaching(id)}>
                  Apply to an invoice{' '}
                </Button>
              ) : null}
              {kind === 'ask_operator' ? <CopyButton text={detail} what="request" /> : null}
            </div>
          </div>
        ))}
      </div>
      {Dialog === null ? null : <Dialog paymentId={attaching} onClose={() => setAttaching(null)} />}
    </Card>
  )
}
