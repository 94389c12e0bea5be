# Verifies a webhook of Signalbox. Ruby 3.0 or later, standard library only.
require 'json'
require 'openssl'

module WebhookVerification
  TOLERANCE_SECONDS = 300

  # True when body (the raw bytes) comes from the sender, unchanged and not too old. headers: names in lower case.
  # secrets: those that are live, as revealed. data_format: 'object' or 'string', as set on the endpoint.
  def self.verify(body, headers, secrets, data_format: 'object', now: Time.now.to_i)
    body = body.b
    standard?(body, headers, secrets, now) && digest?(body, headers, secrets, data_format)
  end

  def self.standard?(body, headers, secrets, now)
    id = headers['webhook-id'].to_s
    timestamp = headers['webhook-timestamp'].to_s
    return false if id.empty? || !timestamp.match?(/\A[0-9]{1,12}\z/) || (now - timestamp.to_i).abs > TOLERANCE_SECONDS

    message = "#{id}.#{timestamp}.".b + body
    expected = secrets.map { |secret| "v1,#{[sign(secret.delete_prefix('whsec_').unpack1('m0'), message)].pack('m0')}" }
    any_equal?(headers['webhook-signature'].to_s.split(' '), expected)
  end
  private_class_method :standard?

  def self.digest?(body, headers, secrets, data_format)
    match = /\At=([0-9]+),(.+)\z/.match(headers['signature-digest'].to_s)
    signed = signed_bytes(body, data_format)
    return false if match.nil? || signed.nil?

    message = "#{match[1]}.".b + signed
    any_equal?(match[2].split(','), secrets.map { |secret| "v1=#{sign(secret, message).unpack1('H*')}" })
  end
  private_class_method :digest?

  def self.signed_bytes(body, data_format)
    if data_format == 'string'
      data = JSON.parse(body.dup.force_encoding(Encoding::UTF_8))['data']
      return data.is_a?(String) ? data.b : nil
    end
    start = body.index(',"data":'.b)
    finish = body.rindex('}'.b)
    start.nil? || finish < start + 8 ? nil : body[(start + 8)...finish]
  rescue JSON::ParserError, TypeError, NoMethodError
    nil
  end
  private_class_method :signed_bytes

  def self.sign(key, message)
    OpenSSL::HMAC.digest('SHA256', key, message)
  end
  private_class_method :sign

  def self.any_equal?(offered, expected)
    offered.product(expected).any? { |one, other| OpenSSL.secure_compare(one, other) }
  end
  private_class_method :any_equal?
end
