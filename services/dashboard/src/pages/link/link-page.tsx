import { Button } from '@mantine/core'
import { IconExternalLink, IconPencil } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { revealHidden } from '../../format/reveal-hidden.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { loadedDialog } from '../../parts/dialog/loaded-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { QrCode, QrDownloads } from '../../parts/qr-code.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useRefusal, useScope, useTo } from '../../session/scope.ts'
import type { LinkRow } from '../money/answers.ts'
import { LinkAmount, LinkStatus, LinkUses } from './link-labels.tsx'

const EditLink = loadedDialog(async () => (await import('./edit-link.tsx')).EditLink)

/** One payment link: its URL as text and QR code, its uses, and its deactivation. */
export function LinkPage() {
  const scope = useScope()
  const { id = '' } = useParams()
  const link = useQuery(trpc.paymentLinks.get.queryOptions({ ...scope, id }))
  return (
    <QueryView query={link} what="this link" title="Payment link">
      {(data) => <Loaded link={data} />}
    </QueryView>
  )
}

function Loaded({ link }: { readonly link: LinkRow }) {
  const to = useTo()
  const scope = useScope()
  const mayEdit = useMay('support', 'active')
  const refusal = useRefusal('support')
  const end = useAction({
    call: (ids, input: { readonly id: string }) => api.paymentLinks.deactivate.mutate({ ...scope, ...ids, ...input }),
    done: 'Payment link deactivated.',
    refresh: [trpc.paymentLinks.pathFilter()],
  })
  const [editing, setEditing] = useState(false)
  const isActive = link.status === 'active'
  return (
    <Page
      title={revealHidden(link.title)}
      beside={<LinkStatus status={link.status} />}
      actions={
        <>
          <Button
            component="a"
            href={link.url}
            target="_blank"
            rel="noreferrer"
            variant="default"
            leftSection={<IconExternalLink size={16} aria-hidden />}
          >
            Open page
          </Button>
          {isActive && mayEdit ? (
            <Button
              variant="default"
              onClick={() => setEditing(true)}
              leftSection={<IconPencil size={16} aria-hidden />}
            >
              Edit
            </Button>
          ) : null}
          {isActive ? (
            <ActionButton
              action={end}
              input={{ id: link.id }}
              variant="default"
              reason="optional"
              refusal={refusal}
              confirm="No new payments can be started. Existing invoices can still be paid. This can’t be undone."
            >
              Deactivate
            </ActionButton>
          ) : null}
        </>
      }
    >
      <EditLink link={link} open={editing} onClose={() => setEditing(false)} />
      <div className="pm-split">
        <Card title="Link">
          <Facts
            facts={[
              ['Address', <CopyText key="url" text={link.url} what="link" />],
              ['Amount', <LinkAmount key="amount" link={link} />],
              ['Invoices', showCount(link.uses)],
              link.max_uses === null ? null : ['Payments taken', <LinkUses key="taken" link={link} />],
              link.expires_at === null ? null : ['Ends', <Time key="end" at={link.expires_at} detail />],
              [
                'Description',
                link.description === null ? '–' : <UntrustedText key="text">{link.description}</UntrustedText>,
              ],
              link.product_id === null
                ? null
                : [
                    'Product',
                    <Link key="product" to={to('products')}>
                      View product
                    </Link>,
                  ],
              ['Created', <Time key="created" at={link.created_at} detail />],
              link.deactivated_at === null
                ? null
                : ['Deactivated', <Time key="ended" at={link.deactivated_at} detail />],
              ['ID', <CopyText key="id" text={link.id} what="link ID" short />],
            ]}
          />
        </Card>
        <Card title="QR code">
          <div className="pm-stack">
            <QrCode text={link.url} label={`QR code of the payment link ${revealHidden(link.title)}`} size={260} />
            <QrDownloads
              text={link.url}
              name={`${scope.mode === 'test' ? 'test_' : ''}payment-link-${link.id.slice(0, 8)}`}
            />
          </div>
        </Card>
      </div>
    </Page>
  )
}
