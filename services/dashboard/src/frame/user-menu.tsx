import { UntrustedText } from '../parts/untrusted-text.tsx'
import { useSession } from '../session/session.ts'
import { MenuButton } from './menu-button.tsx'

const load = async () => (await import('./user-menu-list.tsx')).UserMenuList

/** The signed-in person, with a menu: theme, single keys, logout. */
export function UserMenu({ role }: { readonly role: string }) {
  const { name, email } = useSession()
  const shown = name === '' ? email : name
  return (
    <MenuButton className="pm-user" label={`${shown}, ${role}. Menu`} target={null} load={load}>
      {/* Drawn by the style sheet: what is visible as text belongs to the name of a button. */}
      <i aria-hidden data-initials={initials(shown)} />
      <span>
        <UntrustedText>{shown}</UntrustedText> <small>{role}</small>
      </span>
    </MenuButton>
  )
}

function initials(name: string): string {
  const words = name.split(/[\s@.]+/).filter((word) => word !== '')
  return [words[0], words[1]]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}
