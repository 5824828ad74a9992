#!/bin/sh
# Writes Alertmanager's configuration from SMTP_URL, MAIL_FROM and ALERT_MAIL_TO (compose.yaml hands them over), and starts it: it reads
# no environment, and the mail server is configured once, for Paymesh and its alerts. CONFIG_DIR is where it is written.
set -eu
dir=${CONFIG_DIR:-/tmp}

fail() {
  echo "alertmanager: $1" >&2
  exit 1
}
# Percent-decoding, as in a URL's user info.
decoded() {
  printf '%s\n' "$1" | awk '
    function digit(c) { return index("0123456789abcdef", tolower(c)) - 1 }
    { out = ""
      for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (c == "%" && substr($0, i + 1, 2) ~ /^[0-9A-Fa-f][0-9A-Fa-f]$/) {
          c = sprintf("%c", digit(substr($0, i + 1, 1)) * 16 + digit(substr($0, i + 2, 1))); i += 2
        }
        out = out c
      }
      printf "%s", out }'
}
# A YAML string in single quotes.
quoted() {
  printf "'%s'" "$(printf '%s' "$1" | tr -d '\n\r' | sed "s/'/''/g")"
}

[ -n "${ALERT_MAIL_TO:-}" ] || fail 'set ALERT_MAIL_TO in .env: the addresses that receive alerts, separated by commas'
[ -n "${MAIL_FROM:-}" ] || fail 'set PAYMESH_MAIL_FROM in .env'
case ${SMTP_URL:-} in
  smtp://*) scheme=smtp port=587 ;;
  smtps://*) scheme=smtps port=465 ;;
  *) fail 'set PAYMESH_SMTP_URL in .env: smtp://… or smtps://…' ;;
esac
rest=${SMTP_URL#*://}
rest=${rest%%[/?#]*}
user=
password=
case $rest in
  *@*)
    login=${rest%@*}
    rest=${rest##*@}
    user=$(decoded "${login%%:*}")
    case $login in *:*) password=$(decoded "${login#*:}") ;; esac
    ;;
esac
case $rest in
  *]:*) host=${rest%:*} port=${rest##*:} ;;
  *]) host=$rest ;;
  *:*) host=${rest%:*} port=${rest##*:} ;;
  *) host=$rest ;;
esac
[ -n "$host" ] || fail 'PAYMESH_SMTP_URL names no host'
# Alertmanager encrypts from the first byte on port 465 alone, and elsewhere by STARTTLS. Credentials never go out in the clear.
require_tls=false
if [ "$scheme" = smtps ]; then
  [ "$port" = 465 ] || fail 'Alertmanager speaks smtps:// on port 465 only; use smtp:// for STARTTLS'
elif [ "$port" = 465 ]; then
  fail 'port 465 is smtps://'
elif [ -n "$user" ]; then
  require_tls=true
fi

umask 077
{
  echo 'global:'
  echo "  smtp_smarthost: $(quoted "$host:$port")"
  echo "  smtp_from: $(quoted "$MAIL_FROM")"
  echo "  smtp_require_tls: $require_tls"
  if [ -n "$user" ]; then
    echo "  smtp_auth_username: $(quoted "$user")"
    echo "  smtp_auth_password: $(quoted "$password")"
  fi
  cat <<ROUTE
route:
  receiver: operators
  # One mail for what begins together; what goes on is repeated once a day, a page every four hours.
  group_by: [alertname]
  group_wait: 30s
  group_interval: 5m
  repeat_interval: 24h
  routes:
    - matchers: ['severity="page"']
      receiver: operators
      group_wait: 10s
      repeat_interval: 4h
receivers:
  - name: operators
    email_configs:
      - to: $(quoted "$ALERT_MAIL_TO")
        send_resolved: true
ROUTE
} >"$dir/alertmanager.yml"
[ -n "${CHECK_ONLY:-}" ] || exec /bin/alertmanager --config.file="$dir/alertmanager.yml" --storage.path=/alertmanager --cluster.listen-address=
