import { IconChevronDown } from '@tabler/icons-react'
import { UntrustedText } from '../parts/untrusted-text.tsx'
import { Logo } from './logo.tsx'
import { MenuButton } from './menu-button.tsx'
import type { NavigationTarget } from './target.ts'

const load = async () => (await import('./workspace-menu-list.tsx')).WorkspaceMenuList

/** Shows the workspace, with a menu of the person's other workspaces. */
export function WorkspaceMenu({ target }: { readonly target: NavigationTarget | null }) {
  const name = target?.workspaceName ?? 'Paymesh'
  return (
    <MenuButton className="pm-workspace" label={`${name}, Paymesh. Change workspace`} target={target} load={load}>
      <Logo />
      <span>
        <b>
          <UntrustedText>{name}</UntrustedText>
        </b>{' '}
        <small>Paymesh</small>
      </span>
      <IconChevronDown size={16} aria-hidden />
    </MenuButton>
  )
}
