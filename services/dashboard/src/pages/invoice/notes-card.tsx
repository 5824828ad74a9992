import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card } from '../../parts/card.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

const TEXT_MAX = 1_000

/** What the team wrote about the invoice: who, when, what. Customers and webhooks never see it. */
export function NotesCard({ invoice }: { readonly invoice: InvoiceDetail }) {
  const may = useMay('support')
  const { notes } = invoice
  if (notes.length === 0 && !may) return null
  return (
    <Card title="Notes">
      {notes.length === 0 ? (
        <p className="pm-muted pm-small">Only your team sees notes. They are erased together with the customer.</p>
      ) : (
        <ul className="pm-plain-list pm-stack" aria-label="notes">
          {notes.map(({ id, by, at, text }) => (
            <li key={id}>
              <p>
                {text === null ? (
                  <span className="pm-dim">Erased with the customer’s data.</span>
                ) : (
                  <span className="pm-lines">
                    <UntrustedText>{text}</UntrustedText>
                  </span>
                )}
              </p>
              <p className="pm-dim pm-small">
                {by}, <Time at={at} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {may ? <AddNote id={invoice.id} /> : null}
    </Card>
  )
}

function AddNote({ id }: { readonly id: string }) {
  const scope = useScope()
  const [text, setText] = useState('')
  const add = useAction({
    call: (ids, input: { readonly id: string; readonly text: string }) =>
      api.invoices.addNote.mutate({ ...scope, ...ids, ...input }),
    done: 'Note added.',
    refresh: [trpc.invoices.pathFilter()],
    onDone: () => setText(''),
  })
  return (
    <ActionForm
      action={add}
      onSubmit={() => void add.run({ id, text: text.trim() })}
      submit="Add note"
      className="pm-gap-top"
      look={{ size: 'xs', variant: 'default' }}
      disabled={text.trim() === ''}
      noValidate
    >
      <Textarea
        label="New note"
        {...bindText(text, setText)}
        maxLength={TEXT_MAX}
        autosize
        minRows={2}
        error={add.failure?.fields['text']}
      />
    </ActionForm>
  )
}
