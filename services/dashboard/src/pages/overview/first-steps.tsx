import { Button } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { placePath, usePlace, useTo } from '#services/dashboard/src/session/scope.ts'
import type { FirstStepsDone } from './answers.ts'

/** Before the first payment: the steps to take; completed ones are ticked automatically. */
export function FirstSteps({ done }: { readonly done: FirstStepsDone | undefined }) {
  const { workspaceId, mode } = usePlace()
  const to = useTo()
  const steps = [
    {
      is: done?.wallet === true || mode === 'test',
      page: 'wallets/add',
      title: 'Add a wallet',
      text: walletText(mode),
    },
    { is: done?.key === true, page: 'keys', title: 'Create an API key', text: 'Your shop uses it to create invoices.' },
    {
      is: done?.webhook === true,
      page: 'webhooks/endpoints',
      title: 'Add a webhook endpoint',
      text: 'We notify your shop of every payment.',
    },
  ]
  return (
    <Card>
      <EmptyState title="No payments yet. Create a test invoice and pay it in one click.">
        <Button component={Link} to={placePath(workspaceId, 'test', 'invoices/new')}>
          Create test invoice
        </Button>
      </EmptyState>
      <ol className="pm-first-steps">
        {steps.map(({ is, page, title, text }) => (
          <li key={page}>
            {is ? (
              <IconCircleCheckFilled size={20} className="pm-better" aria-hidden />
            ) : (
              <IconCircleDashed size={20} className="pm-dim" aria-hidden />
            )}
            <div>
              <Link to={to(page)}>{title}</Link> <span className="pm-muted">{is ? 'Done.' : text}</span>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function walletText(mode: 'live' | 'test'): string {
  return mode === 'live' ? 'Paste a public key. Money goes straight to you.' : 'Test mode has a built-in wallet.'
}
