//! How PostgreSQL is shown a password: SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.

use super::digest::{hmac, pbkdf2, sha256};
use super::session::DatabaseError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Most turns that are done for a server.
const MOST_TURNS: u32 = 10_000_000;

/// One conversation.
pub(super) struct Scram {
    password: Vec<u8>,
    nonce: String,
    /// What the server must prove in the end.
    signature: Option<[u8; 32]>,
}

impl Scram {
    /// Begins with a nonce of printable characters but commas.
    pub(super) fn new(password: &[u8], nonce: String) -> Scram {
        Scram { password: password.to_vec(), nonce, signature: None }
    }

    /// The first message; PostgreSQL knows the user already.
    pub(super) fn first(&self) -> String {
        format!("n,,{}", self.bare())
    }

    fn bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    /// The answer to the server's first message, with the proof that the password is known.
    ///
    /// # Errors
    /// Where the message is none of this kind.
    pub(super) fn answer(&mut self, first: &str) -> Result<String, DatabaseError> {
        self.answer_of(first, &self.bare())
    }

    fn answer_of(&mut self, first: &str, bare: &str) -> Result<String, DatabaseError> {
        let strange = || DatabaseError::strange("a proof of the password that is none");
        let field = |name: &str| first.split(',').find_map(|field| field.strip_prefix(name)).ok_or_else(strange);
        let (nonce, salt, turns) = (field("r=")?, field("s=")?, field("i=")?);
        let salt = STANDARD.decode(salt).map_err(|_| strange())?;
        let turns: u32 = turns.parse().ok().filter(|turns| (1..=MOST_TURNS).contains(turns)).ok_or_else(strange)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(strange());
        }
        let salted = pbkdf2(&self.password, &salt, turns);
        let without_proof = format!("c=biws,r={nonce}");
        let all = format!("{bare},{first},{without_proof}");
        let key = hmac(&salted, b"Client Key");
        let proof = hmac(&sha256(&key), all.as_bytes());
        let proof: Vec<u8> = key.iter().zip(proof).map(|(a, b)| a ^ b).collect();
        self.signature = Some(hmac(&hmac(&salted, b"Server Key"), all.as_bytes()));
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)))
    }

    /// Whether the server knows the password too.
    pub(super) fn is_proved(&self, last: &str) -> bool {
        let said = last.strip_prefix("v=").and_then(|said| STANDARD.decode(said).ok());
        self.signature.is_some_and(|own| said.as_deref() == Some(&own[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_that_of_the_standard() {
        // RFC 7677, section 3.
        let mut scram = Scram::new(b"pencil", "rOprNGfwEbeRWgbNEkqO".to_owned());
        assert_eq!(scram.first(), "n,,n=,r=rOprNGfwEbeRWgbNEkqO");
        let first = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let answer = scram.answer_of(first, "n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap();
        assert_eq!(
            answer,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
             p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert!(scram.is_proved("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        assert!(!scram.is_proved("v=AAAA") && !scram.is_proved("e=other-error"));
        for bad in
            ["", "r=rOprNGfwEbeRWgbNEkqO,s=AA==,i=1", "r=other1,s=AA==,i=1", "r=rOprNGfwEbeRWgbNEkqO1,s=AA==,i=0"]
        {
            assert!(scram.answer_of(bad, "").is_err(), "{bad}");
        }
    }
}
