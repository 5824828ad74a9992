<?php

declare(strict_types=1);

namespace Paymesh;

/** The signature of deliveries. */
final class Webhook
{
    /**
     * The event of a genuine delivery: `$signature` is the header `X-Webhook-Signature`, `$rawBody` the bytes as received
     * (`file_get_contents('php://input')`). Two secrets while one is replaced.
     *
     * @param string|list<string> $secrets
     * @return array<string, mixed>
     * @throws WebhookRefused
     * @throws \InvalidArgumentException without a secret
     */
    public static function verify(string $rawBody, ?string $signature, string|array $secrets, int $toleranceS = 300, ?int $now = null): array
    {
        $known = self::known($secrets);
        if ($signature === null || $signature === '') {
            throw new WebhookRefused('missing_signature');
        }
        if (preg_match('/^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/D', $signature, $match) !== 1) {
            throw new WebhookRefused('malformed_signature');
        }
        $genuine = false;
        foreach ($known as $secret) {
            $genuine = hash_equals(hash_hmac('sha256', "{$match[1]}.$rawBody", $secret), $match[2]) || $genuine;
        }
        if (!$genuine) {
            throw new WebhookRefused('signature_mismatch');
        }
        if (abs(($now ?? time()) - (int) $match[1]) > $toleranceS) {
            throw new WebhookRefused('timestamp_out_of_range');
        }
        $event = json_decode($rawBody, true);
        $named = is_array($event) && ($event['object'] ?? null) === 'event' && is_string($event['id'] ?? null) && is_string($event['type'] ?? null);
        if (!$named || !is_array($event['data']['object'] ?? null)) {
            throw new WebhookRefused('malformed_event');
        }
        return $event;
    }

    /**
     * @internal The secrets as a list. An HMAC under an empty key can be forged by anyone.
     *
     * @param string|array<mixed> $secrets
     * @return list<string>
     */
    public static function known(string|array $secrets): array
    {
        $known = array_values((array) $secrets);
        if ($known === [] || in_array('', $known, true) || array_filter($known, 'is_string') !== $known) {
            throw new \InvalidArgumentException('secrets must be the whsec_... secret of the endpoint');
        }
        return $known;
    }
}
