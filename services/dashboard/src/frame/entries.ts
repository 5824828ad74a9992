import {
  IconActivity,
  IconBox,
  IconCoins,
  IconFileText,
  IconHome,
  IconInbox,
  IconKey,
  IconLink,
  IconReportMoney,
  IconRocket,
  IconSettings,
  IconUsers,
  IconWallet,
  IconWebhook,
  IconZoomQuestion,
  type TablerIcon,
} from '@tabler/icons-react'
import type { Role } from '../session/roles.ts'

/** An entry of the navigation. */
export interface Entry {
  readonly label: string
  /** Path after `/{workspace}/{mode}/`; its first segment marks the entry as current. */
  readonly page: string
  readonly icon: TablerIcon
  /** Hidden for lower roles. */
  readonly needs: Role
  /** Second key after G. */
  readonly key?: string | undefined
}

const entry = (label: string, page: string, icon: TablerIcon, needs: Role = 'viewer', key?: string): Entry => ({
  label,
  page,
  icon,
  needs,
  key,
})

/** The navigation of a workspace, in groups; the first one has no heading. */
export const ENTRY_GROUPS: readonly { readonly heading: string | null; readonly entries: readonly Entry[] }[] = [
  {
    heading: null,
    entries: [
      entry('Overview', 'overview', IconHome, 'viewer', 'o'),
      entry('Exceptions', 'exceptions', IconInbox, 'viewer', 'e'),
      entry('Invoices', 'invoices', IconFileText, 'viewer', 'i'),
      entry('Payments', 'payments', IconCoins),
      entry('Settlements', 'settlements', IconReportMoney),
      entry('Payment links', 'links', IconLink),
      entry('Products', 'products', IconBox),
    ],
  },
  {
    heading: 'Developers',
    entries: [
      entry('Webhooks', 'webhooks/deliveries', IconWebhook, 'viewer', 'w'),
      entry('API keys', 'keys', IconKey, 'admin'),
      entry('Trace a payment', 'explain', IconZoomQuestion),
    ],
  },
  {
    heading: 'Account',
    entries: [
      entry('Wallets', 'wallets', IconWallet),
      entry('Going live', 'go-live', IconRocket, 'admin'),
      entry('Team', 'team', IconUsers),
      entry('Settings', 'settings/pricing', IconSettings, 'viewer', 's'),
    ],
  },
]

/** The page of instance admins. */
export const SYSTEM_ENTRY = { label: 'System', path: '/system/chains', icon: IconActivity } as const

/** What the bar of a phone has room for; the other pages are behind its button "More". */
export const PHONE_PAGES: readonly string[] = ['overview', 'exceptions', 'invoices', 'payments']
